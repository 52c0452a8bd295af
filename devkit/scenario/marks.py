"""Where in a YAML file a value stands, so that an error can say line and column."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from devkit.errors import InvalidFileError, Problem, UsageError

Location = tuple[int | str, ...]


def read_yaml(path: Path) -> CommentedMap:
    """The mapping in a file, with marks. Raises InvalidFileError, or UsageError when it cannot be read."""
    try:
        document = YAML(typ="rt").load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidFileError(
            path, [Problem(1, 1, f"not UTF-8 text: {error.reason} at byte {error.start}")]
        ) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        text = " ".join((error.problem or "cannot be parsed").split())
        raise InvalidFileError(path, [Problem(line, column, f"not YAML: {text}")]) from error
    except YAMLError as error:
        raise InvalidFileError(path, [Problem(1, 1, f"not YAML: {' '.join(str(error).split())}")]) from error
    except RecursionError as error:
        raise InvalidFileError(path, [Problem(1, 1, "not YAML that can be read: nested too deeply")]) from error
    if not isinstance(document, CommentedMap):
        kind = "empty" if document is None else "a list" if isinstance(document, CommentedSeq) else "a single value"
        raise InvalidFileError(path, [Problem(1, 1, f"the file is {kind}; it must be a mapping of keys to values")])
    return document


def position(document: Any, location: Location) -> tuple[int, int]:
    """Line and column, from 1, of the innermost part of the document that the location reaches."""
    place = (0, 0)
    for step in location:
        if isinstance(document, CommentedMap) and step in document:
            if step not in (document.lc.data or ()):
                break  # it came with a merge key, `<<: *other`, so it stands elsewhere
            place = document.lc.key(step)
        elif isinstance(document, CommentedSeq) and isinstance(step, int) and step < len(document):
            place = document.lc.item(step)
        else:
            break
        document = document[step]
    return place[0] + 1, place[1] + 1


def reaches(document: Any, location: Location) -> int:
    """How many steps of the location exist in the document."""
    for taken, step in enumerate(location):
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return taken
    return len(location)
