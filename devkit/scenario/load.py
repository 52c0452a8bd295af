"""Reads a scenario file into its model; every error says file, line, column, what is wrong, and the near miss."""

import re
import types
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml.comments import CommentedMap

from devkit.errors import InvalidFileError, Problem, UsageError
from devkit.programs.places import NOWHERE
from devkit.programs.spark.program import SPARK
from devkit.scenario.configure import configured, tried_first
from devkit.scenario.impossible import impossible
from devkit.scenario.marks import Location, position, reaches, read_yaml
from devkit.scenario.model import ARMS, Scenario
from devkit.scenario.unanswerable import unanswerable

SUFFIX = ".yaml"
_SHOWN = 60

# Pydantic's words for these speak of Python.
_PLAIN = {
    "model_type": "must be a mapping of keys to values",
    "dict_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "too_short": "must not be empty",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
}
_REMEDIES = {
    "string_type": "write it in quotes",
}


# Keys with a configuration for each arm.
_OVERLAYS = ("arms", "tried_first")
_KAFKA_DEFAULT_MESSAGE_BYTES = 1_048_588
# Key, headers and the batch around a record count towards the topic's limit as well.
_BATCH_OVERHEAD_BYTES = 256


def load_scenario(path: Path) -> Scenario:
    """The scenario in a file. Raises InvalidFileError with every problem, or UsageError when it cannot be read."""
    document = read_yaml(path)
    try:
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        problems = [
            _problem(document, detail["loc"], detail, Scenario) for detail in error.errors() if not _is_echo(detail)
        ]
        raise InvalidFileError(path, _distinct(problems)) from error
    problems = [
        *_stack_keys(document),
        *_configurations(document, scenario),
        *_strangers(document, scenario),
        *_impossible(document, scenario),
    ]
    if problems:
        raise InvalidFileError(path, _distinct(problems))
    return scenario


def find_scenario(name_or_file: str, directory: Path) -> Path:
    """The file of a scenario given by name, or the file itself. Raises UsageError that lists what there is."""
    as_file = Path(name_or_file)
    if as_file.suffix in (SUFFIX, ".yml") or "/" in name_or_file:
        if as_file.is_dir():
            raise UsageError(f"{name_or_file} is a directory, not a scenario file")
        if not as_file.exists():
            raise UsageError(f"there is no scenario file {name_or_file}")
        return as_file
    known = sorted(path.stem for path in directory.glob(f"*{SUFFIX}"))
    if name_or_file not in known:
        near = get_close_matches(name_or_file, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known) or 'none'}"
        raise UsageError(f"there is no scenario {name_or_file!r} in {directory}", hint=hint)
    return directory / f"{name_or_file}{SUFFIX}"


def _strangers(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    """What one part of the file says of another, and the other does not know: rules that no request can match."""
    pages = [title.replace("_", " ") for title in scenario.traffic.pages]
    for number, rule in enumerate(scenario.mock.rules):
        base: Location = ("mock", "rules", number, "when")
        if rule.when.page is not None and rule.when.page.replace("_", " ") not in pages:
            text = f"no such page in traffic.pages ({', '.join(pages) or 'there is none'})"
            yield Problem(*position(document, (*base, "page")), f"{_dotted((*base, 'page'))}: {text}")
        if rule.when.wiki is not None and rule.when.wiki not in scenario.traffic.wikis:
            text = f"no such wiki in traffic.wikis ({', '.join(scenario.traffic.wikis)})"
            yield Problem(*position(document, (*base, "wiki")), f"{_dotted((*base, 'wiki'))}: {text}")
        for fault, why in rule.do.unseen().items():
            here: Location = ("mock", "rules", number, "do", fault)
            yield Problem(*position(document, here), f"{_dotted(here)}: nobody can show that it fired, as {why}")
    for arm in ARMS:
        for number, expectation in enumerate(scenario.expect.of(arm)):
            location: Location = ("expect", arm, number, expectation.check)
            for key, text in unanswerable(scenario, arm, expectation):
                place = (*location, key) if key else location
                yield Problem(*position(document, place), f"{_dotted(place)}: {text}")
    limit = scenario.kafka.topics.source.max_message_bytes or _KAFKA_DEFAULT_MESSAGE_BYTES
    for title, page in scenario.traffic.pages.items():
        if page.event_bytes is not None and page.event_bytes + _BATCH_OVERHEAD_BYTES > limit:
            location = ("traffic", "pages", title, "event_bytes")
            text = f"an event of {page.event_bytes} bytes is more than the source topic takes ({limit})"
            yield Problem(
                *position(document, location),
                f"{_dotted(location)}: {text}; raise kafka.topics.source.max.message.bytes",
            )


def _impossible(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    for location, text in impossible(scenario):
        yield Problem(*position(document, location), f"{_dotted(location)}: {text}")


def _stack_keys(document: CommentedMap) -> Iterator[Problem]:
    for base in (("pipeline",), *((top, arm) for top in _OVERLAYS for arm in ARMS)):
        for key in SPARK.given_by_stack:
            location = (*base, *key)
            if reaches(document, location) == len(location):
                yield Problem(
                    *position(document, location), f"{_dotted(location)}: is given by the stack; leave it out"
                )


def _configurations(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    for arm in ARMS:
        # An arm lies on top of what both share, and what is tried first on top of that: the topmost value counts.
        bases: tuple[Location, ...] = (("arms", arm), ("pipeline",))
        for configure, above in ((configured, ()), (tried_first, (("tried_first", arm),))):
            try:
                configure(scenario, arm, NOWHERE)
            except ValidationError as error:
                for detail in error.errors():
                    places = [(*base, *detail["loc"]) for base in (*above, *bases)]
                    location = max(places, key=lambda place: _depth(document, place))
                    yield _problem(document, location, detail, SPARK.model)
                break


def _depth(document: CommentedMap, location: Location) -> int:
    base = 2 if location[0] in _OVERLAYS else 1
    return reaches(document, location) - base


def _problem(document: CommentedMap, location: Location, detail: ErrorDetails, model: type[BaseModel]) -> Problem:
    path = _without_validators(document, location)
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
    context = detail.get("ctx") or {}
    message = context.get("problem") or _PLAIN.get(detail["type"]) or detail["msg"][:1].lower() + detail["msg"][1:]
    hint = context.get("hint") or _REMEDIES.get(detail["type"]) or _near_literal(detail, context)
    return message + _got(detail["input"]) + (f"; {hint}" if hint else "")


def _got(value: Any) -> str:
    """The value as YAML would write it; mappings and lists are to be seen in the file."""
    if value is None:
        return " (it is empty)"
    if isinstance(value, bool):
        return f" (got {str(value).lower()})"
    if not isinstance(value, str | int | float):
        return ""
    shown = repr(value)
    return f" (got {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'})"


def _is_echo(detail: ErrorDetails) -> bool:
    """Whether a list is called too short only because an item of it is invalid, which has an error of its own."""
    return detail["type"] == "too_short" and len(detail["input"]) >= (detail.get("ctx") or {})["min_length"]


def _near_literal(detail: ErrorDetails, context: dict[str, Any]) -> str | None:
    if detail["type"] != "literal_error":
        return None
    known = re.findall(r"'([^']*)'", str(context.get("expected", "")))
    near = get_close_matches(str(detail["input"]), known, n=1)
    return f"did you mean {near[0]!r}?" if near else None


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


def _without_validators(document: CommentedMap, location: Location) -> Location:
    """Pydantic puts the names of unions' members and validators into locations; they are no part of the file.

    A key of the file may look like one: `Mercury (planet)` is a page.
    """
    path: Location = ()
    for step in location:
        in_file = reaches(document, (*path, step)) == len(path) + 1
        if in_file or not (isinstance(step, str) and ("[" in step or "(" in step)):
            path = (*path, step)
    return path


def _dotted(location: Location) -> str:
    return ".".join(str(step) for step in location) or "(top)"


def _distinct(problems: list[Problem]) -> list[Problem]:
    return sorted(set(problems), key=lambda problem: (problem.line, problem.column))
