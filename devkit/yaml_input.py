"""YAML files that the kit is given: read with their places, refused with all that is wrong with them."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap

from devkit.errors import InvalidFileError, Problem, UsageError
from located_config import problem
from located_config.place import Location, position
from located_config.yaml_file import UnfitError, read_mapping


def read_yaml(path: Path) -> CommentedMap:
    """The mapping in a file. Raises InvalidFileError, or UsageError when it cannot be read."""
    try:
        return read_mapping(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnfitError as error:
        raise InvalidFileError(path, [Problem(error.line, error.column, str(error))]) from error


def plain(value: Any) -> Any:
    """A value of a document as JSON has it, without the places that it knows."""
    return json.loads(json.dumps(value, default=str))


SetBy = Callable[[Location], str]
"""The option that set the value at a location of a document, empty where it is the file's own."""


def refused(
    path: Path,
    document: Any,
    problems: Iterable[problem.Problem],
    hint: str | None = None,
    set_by: SetBy = lambda _: "",
) -> InvalidFileError:
    """What is wrong with a document, each thing once and in the order of the file."""
    return InvalidFileError(path, placed(document, problems, set_by), hint=hint)


def placed(document: Any, problems: Iterable[problem.Problem], set_by: SetBy = lambda _: "") -> list[Problem]:
    """The problems with their places, each once and in the order of the file."""
    unique = dict.fromkeys(
        Problem(*position(document, unplaced.location), str(unplaced), set_by(unplaced.location))
        for unplaced in problems
    )
    return sorted(unique, key=lambda item: (item.line, item.column))
