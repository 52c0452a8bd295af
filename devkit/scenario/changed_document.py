"""Values of a scenario's file set otherwise for one run: `--set arms.fixed.batch.max_offsets=100`.

The place of a value is the way to it from the top of the file, as messages about the file name it. An item of a list
is named by its number, `mock.rules[0].do`, or by its own `name`, `mock.rules[slow page].do`. A section of which the
kit knows the name is made where it is missing; an arm, a page or a program that the way leads through has to be there.
Whether what is set makes sense is for the check of the whole file.
"""

import copy
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from devkit.errors import UsageError
from devkit.observe.settings import ChangedValue
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.yaml_input import plain
from located_config.model_keys import fields_of
from located_config.near import near_miss
from located_config.place import Location, reaches, shown
from located_config.yaml_file import UnfitError, parse_yaml

OPTION = "--set"
_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]+)\]")
_PLACE = re.compile(rf"(?!\.)(?:{_STEP.pattern})+")
_EXAMPLE = f"write it like {OPTION} arms.fixed.batch.max_offsets=100"


@dataclass(frozen=True)
class DocumentChange:
    """What stands at a place of the file instead of `before`, which is None where the file says nothing there."""

    location: Location
    before: Any
    value: Any

    @property
    def changed_value(self) -> ChangedValue:
        """For the run's reports, in plain JSON."""
        return ChangedValue(place=shown(self.location), before=plain(self.before), value=plain(self.value))


def changed(document: Any, scenario: Scenario, written: Sequence[str]) -> tuple[Any, tuple[DocumentChange, ...]]:
    """A copy of the document of `scenario` with what `PLACE=VALUE` say, the last one winning, and what was changed.

    Raises UsageError for a place that is none, and for a value that is no YAML.
    """
    document = copy.deepcopy(document)
    resolved = resolve(scenario)
    configurations = {name: program.model for name, program in resolved.programs.items()}
    changes = tuple(_set(document, text, configurations, resolved.main_name) for text in written)
    return document, changes


def is_of_change(location: Location, changes: Sequence[DocumentChange], document: Any) -> bool:
    """Whether what is wrong at a location of the changed document is there because of a change: at it, below it, or in
    a section that the file itself, `document`, does not have.
    """
    return any(
        location[: len(change.location)] == change.location
        or (change.location[: len(location)] == location and reaches(document, location) < len(location))
        for change in changes
    )


def _set(document: Any, written: str, configurations: Mapping[str, type[BaseModel]], main: str) -> DocumentChange:
    place, equals, text = written.partition("=")
    if not equals or not place:
        raise UsageError(f"{OPTION} {written}: no value", hint=_EXAMPLE)
    try:
        value = parse_yaml(text)
    except UnfitError as error:
        raise UsageError(f"{OPTION} {written}: the value is {error}") from error
    if not _PLACE.fullmatch(place):
        raise UsageError(f"{OPTION} {written}: {place!r} is no place in a file", hint=_EXAMPLE)
    steps = tuple(_Step(match[1] or match[2], is_item=match[2] is not None) for match in _STEP.finditer(place))
    return _Way(document, written, configurations, main).set(steps, value)


@dataclass(frozen=True)
class _Step:
    text: str
    is_item: bool


class _Way:
    """From the top of a document to a place in it: what is there at each step, and what may be, by the model."""

    def __init__(self, document: Any, written: str, configurations: Mapping[str, type[BaseModel]], main: str) -> None:
        self._here, self._written, self._configurations, self._main = document, written, configurations, main
        self._location: Location = ()
        self._types: tuple[Any, ...] = (Scenario,)

    def set(self, steps: Sequence[_Step], value: Any) -> DocumentChange:
        while True:
            keys = [step.text for step in takewhile(lambda step: not step.is_item, steps)]
            taken, step = self._key(keys) if keys else (1, self._item(steps[0].text))
            steps = steps[taken:]
            if not steps:
                before = self._get(step)
                self._here[step] = value
                return DocumentChange((*self._location, step), before, value)
            self._go(step)

    def _key(self, pieces: Sequence[str]) -> tuple[int, int | str]:
        """How many of the pieces are one key, which may have dots of its own, and that key."""
        if not isinstance(self._here, Mapping):
            raise self._error(f"{shown(self._location)} is no mapping in the file, so nothing can be set in it")
        known = set(self._known())
        for length in range(len(pieces), 0, -1):
            if (key := ".".join(pieces[:length])) in self._here or key in known:
                return length, key
        # So that a slip in a key with dots finds its near miss.
        return (len(pieces), ".".join(pieces)) if any("." in key for key in known) else (1, pieces[0])

    def _item(self, text: str) -> int:
        if not isinstance(self._here, list):
            raise self._error(f"{shown(self._location)} is no list in the file")
        names = [item.get("name") if isinstance(item, Mapping) else None for item in self._here]
        if text in names:
            return names.index(text)
        if text.isdecimal() and int(text) < len(names):
            return int(text)
        count = f"{shown(self._location)} has no item [{text}]"
        raise self._error(count, near_miss(text, [*map(str, range(len(names))), *(item for item in names if item)]))

    def _go(self, step: int | str) -> None:
        value = self._get(step)
        if value is None:
            if any(map(_has_names_of_the_writer, self._types)):
                raise self._error(f"{shown(self._location)} has no {step!r}", near_miss(str(step), self._here))
            value = {}
        self._types = tuple(inside for annotation in self._types for inside in self._below(annotation, step))
        self._location = (*self._location, step)
        # A copy, as the file may have the same value at another place: an alias, `*other`.
        self._here[step] = self._here = copy.deepcopy(value)

    def _get(self, step: int | str) -> Any:
        return self._here[step] if isinstance(step, int) else self._here.get(step)

    def _known(self) -> Iterator[str]:
        for model in self._types:
            if _is_model(model):
                yield from fields_of(model)
                if model.model_config.get("extra") == "allow":
                    yield from fields_of(self._configuration)

    def _below(self, annotation: Any, step: int | str) -> Iterator[Any]:
        if _is_model(annotation):
            fields = fields_of(annotation)
            if step not in fields and annotation.model_config.get("extra") == "allow":
                fields = fields_of(self._configuration)
            if step in fields:
                yield from self._plain(fields[str(step)], (*self._location, step))
        elif get_origin(annotation) is dict:
            yield from self._plain(get_args(annotation)[1], (*self._location, step))
        elif get_origin(annotation) in (tuple, list):
            yield from self._plain(get_args(annotation)[0], (*self._location, step))

    def _plain(self, annotation: Any, location: Location) -> Iterator[Any]:
        """The members of unions; what takes any key is the configuration of a program."""
        if get_origin(annotation) in (Union, types.UnionType) or hasattr(annotation, "__metadata__"):
            for inner in get_args(annotation):
                yield from self._plain(getattr(inner, "json_schema_input_type", inner), location)
        elif get_origin(annotation) is dict and get_args(annotation)[1] is Any:
            yield self._configuration_at(location)
        else:
            yield annotation

    @property
    def _configuration(self) -> type[BaseModel]:
        return self._configuration_at(self._location)

    def _configuration_at(self, location: Location) -> type[BaseModel]:
        at = location.index("programs") + 1 if "programs" in location else len(location)
        named = str(location[at]) if at < len(location) else self._main
        return self._configurations.get(named, self._configurations[self._main])

    def _error(self, text: str, hint: str | None = None) -> UsageError:
        return UsageError(f"{OPTION} {self._written}: {text}", hint=hint)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _has_names_of_the_writer(annotation: Any) -> bool:
    return get_origin(annotation) is dict
