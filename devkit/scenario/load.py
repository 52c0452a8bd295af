"""Reads a scenario file into its model; every error says file, line, column, what is wrong, and the near miss."""

import types
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml.comments import CommentedMap

from devkit.errors import InvalidFileError, Problem, UsageError
from devkit.scenario.configure import GIVEN_BY_STACK, NOWHERE, configuration
from devkit.scenario.marks import Location, position, reaches, read_yaml
from devkit.scenario.model import ARMS, Scenario
from pipeline.config import PipelineConfig

SUFFIX = ".yaml"


def load_scenario(path: Path) -> Scenario:
    """The scenario in a file. Raises InvalidFileError with every problem, or UsageError when it cannot be read."""
    document = read_yaml(path)
    try:
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        problems = [_problem(document, detail["loc"], detail, Scenario) for detail in error.errors()]
        raise InvalidFileError(path, _distinct(problems)) from error
    problems = [*_stack_keys(document), *_configurations(document, scenario)]
    if problems:
        raise InvalidFileError(path, _distinct(problems))
    return scenario


def find_scenario(name_or_file: str, directory: Path) -> Path:
    """The file of a scenario given by name, or the file itself. Raises UsageError that lists what there is."""
    as_file = Path(name_or_file)
    if as_file.suffix in (SUFFIX, ".yml") or "/" in name_or_file:
        if not as_file.is_file():
            raise UsageError(f"there is no scenario file {name_or_file}")
        return as_file
    known = sorted(path.stem for path in directory.glob(f"*{SUFFIX}"))
    if name_or_file not in known:
        near = get_close_matches(name_or_file, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known) or 'none'}"
        raise UsageError(f"there is no scenario {name_or_file!r} in {directory}", hint=hint)
    return directory / f"{name_or_file}{SUFFIX}"


def _stack_keys(document: CommentedMap) -> Iterator[Problem]:
    for base in (("pipeline",), *(("arms", arm) for arm in ARMS)):
        for key in GIVEN_BY_STACK:
            location = (*base, *key)
            if reaches(document, location) == len(location):
                yield Problem(
                    *position(document, location), f"{_dotted(location)}: is given by the stack; leave it out"
                )


def _configurations(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    for arm in ARMS:
        try:
            configuration(scenario, arm, NOWHERE)
        except ValidationError as error:
            for detail in error.errors():
                # An arm lies on top of what both share, so a value that is in both comes from the arm.
                bases: tuple[Location, ...] = (("arms", arm), ("pipeline",))
                location = max(((*base, *detail["loc"]) for base in bases), key=lambda place: _depth(document, place))
                yield _problem(document, location, detail, PipelineConfig)


def _depth(document: CommentedMap, location: Location) -> int:
    base = 2 if location[0] == "arms" else 1
    return reaches(document, location) - base


def _problem(document: CommentedMap, location: Location, detail: ErrorDetails, model: type[BaseModel]) -> Problem:
    path = tuple(step for step in location if not _is_validator_step(step))
    return Problem(*position(document, path), f"{_dotted(path)}: {_text(detail, model)}")


def _text(detail: ErrorDetails, model: type[BaseModel]) -> str:
    match detail["type"]:
        case "extra_forbidden":
            known = _known_keys(model, detail["loc"][:-1])
            near = get_close_matches(str(detail["loc"][-1]), known, n=1)
            return "unknown key; " + (f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}")
        case "missing":
            return "is missing"
        case "value_error":
            return detail["msg"].removeprefix("Value error, ")
    hint = (detail.get("ctx") or {}).get("hint")
    shown = repr(detail["input"])
    got = f" (got {shown[:60]})" if not isinstance(detail["input"], dict) else ""
    return detail["msg"][:1].lower() + detail["msg"][1:] + got + (f"; {hint}" if hint else "")


def _known_keys(model: type[BaseModel], location: Location) -> list[str]:
    """The keys of the model to which a location leads."""
    annotation: Any = model
    for step in location:
        for candidate in _models(annotation):
            fields = {field.alias or name: field for name, field in candidate.model_fields.items()}
            if step in fields:
                annotation = fields[str(step)].annotation
                break
    return [field.alias or name for candidate in _models(annotation) for name, field in candidate.model_fields.items()]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation: itself, its union's, its items' or its values'."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, tuple, list, dict) or hasattr(annotation, "__metadata__"):
        for inner in get_args(annotation):
            yield from _models(inner)


def _is_validator_step(step: int | str) -> bool:
    """Pydantic puts the names of unions' members and validators into locations; they are no part of the file."""
    return isinstance(step, str) and ("[" in step or "(" in step)


def _dotted(location: Location) -> str:
    return ".".join(str(step) for step in location) or "(top)"


def _distinct(problems: list[Problem]) -> list[Problem]:
    return sorted(set(problems), key=lambda problem: (problem.line, problem.column))
