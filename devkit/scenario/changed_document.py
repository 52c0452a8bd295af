"""Changes values of a scenario's file for one run: `--set arms.fixed.batch.max_offsets=100`.

A place is the path to the value from the top of the file, as messages name it. An item of a list has its number,
`mock.rules[0].do`, or its own `name`, `mock.rules[slow page].do`. A missing section is added if the model has it; an
arm, a page or a program on the path must exist. The check of the whole file judges the new value.
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
    """A value that replaces `before` at a place of the file; `before` is None if the file has nothing there."""

    location: Location
    before: Any
    value: Any

    @property
    def changed_value(self) -> ChangedValue:
        """For the run's reports, in plain JSON."""
        return ChangedValue(place=shown(self.location), before=plain(self.before), value=plain(self.value))


def changed(document: Any, scenario: Scenario, written: Sequence[str]) -> tuple[Any, tuple[DocumentChange, ...]]:
    """A copy of the document of `scenario` with each `PLACE=VALUE` applied, in order, and the changes.

    Raises UsageError for an invalid place, and for a value that is no YAML.
    """
    document = copy.deepcopy(document)
    resolved = resolve(scenario)
    configurations = {name: program.model for name, program in resolved.programs.items()}
    changes = tuple(_apply(document, text, configurations, resolved.main_name) for text in written)
    return document, changes


def is_of_change(location: Location, changes: Sequence[DocumentChange], document: Any) -> bool:
    """Whether a change caused the problem at a location: it is at or below the changed place, or in a section that only
    the change added to `document`, the file itself.
    """
    return any(
        location[: len(change.location)] == change.location
        or (change.location[: len(location)] == location and reaches(document, location) < len(location))
        for change in changes
    )


def _apply(document: Any, written: str, configurations: Mapping[str, type[BaseModel]], main: str) -> DocumentChange:
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
    return _Cursor(document, written, configurations, main).set(steps, value)


@dataclass(frozen=True)
class _Step:
    text: str
    is_item: bool


class _Cursor:
    """Walks from the top of a document to a place, with the types that the model allows at each step."""

    def __init__(self, document: Any, written: str, configurations: Mapping[str, type[BaseModel]], main: str) -> None:
        self._node, self._written, self._configurations, self._main = document, written, configurations, main
        self._location: Location = ()
        self._types: tuple[Any, ...] = (Scenario,)

    def set(self, steps: Sequence[_Step], value: Any) -> DocumentChange:
        while True:
            keys = [step.text for step in takewhile(lambda step: not step.is_item, steps)]
            taken, step = self._read_key(keys) if keys else (1, self._find_item(steps[0].text))
            steps = steps[taken:]
            if not steps:
                before = self._child(step)
                self._node[step] = value
                return DocumentChange((*self._location, step), before, value)
            self._descend(step)

    def _read_key(self, pieces: Sequence[str]) -> tuple[int, int | str]:
        """The number of pieces that form the next key, which may contain dots, and this key."""
        if not isinstance(self._node, Mapping):
            raise self._error(f"{shown(self._location)} is no mapping in the file, so nothing can be set in it")
        known = set(self._known_keys())
        for length in range(len(pieces), 0, -1):
            if (key := ".".join(pieces[:length])) in self._node or key in known:
                return length, key
        # A misspelt key with dots finds its near miss only as a whole.
        return (len(pieces), ".".join(pieces)) if any("." in key for key in known) else (1, pieces[0])

    def _find_item(self, text: str) -> int:
        if not isinstance(self._node, list):
            raise self._error(f"{shown(self._location)} is no list in the file")
        names = [item.get("name") if isinstance(item, Mapping) else None for item in self._node]
        if text in names:
            return names.index(text)
        if text.isdecimal() and int(text) < len(names):
            return int(text)
        count = f"{shown(self._location)} has no item [{text}]"
        raise self._error(count, near_miss(text, [*map(str, range(len(names))), *(item for item in names if item)]))

    def _descend(self, step: int | str) -> None:
        value = self._child(step)
        if value is None:
            if any(map(_has_free_keys, self._types)):
                raise self._error(f"{shown(self._location)} has no {step!r}", near_miss(str(step), self._node))
            value = {}
        self._types = tuple(inside for annotation in self._types for inside in self._child_types(annotation, step))
        self._location = (*self._location, step)
        # A copy, as the file may have the same value at another place: an alias, `*other`.
        self._node[step] = self._node = copy.deepcopy(value)

    def _child(self, step: int | str) -> Any:
        return self._node[step] if isinstance(step, int) else self._node.get(step)

    def _known_keys(self) -> Iterator[str]:
        for model in self._types:
            if _is_model(model):
                yield from fields_of(model)
                if model.model_config.get("extra") == "allow":
                    yield from fields_of(self._configuration)

    def _child_types(self, annotation: Any, step: int | str) -> Iterator[Any]:
        if _is_model(annotation):
            fields = fields_of(annotation)
            if step not in fields and annotation.model_config.get("extra") == "allow":
                fields = fields_of(self._configuration)
            if step in fields:
                yield from self._members(fields[str(step)], (*self._location, step))
        elif get_origin(annotation) is dict:
            yield from self._members(get_args(annotation)[1], (*self._location, step))
        elif get_origin(annotation) in (tuple, list):
            yield from self._members(get_args(annotation)[0], (*self._location, step))

    def _members(self, annotation: Any, location: Location) -> Iterator[Any]:
        """The members of unions. A mapping with any keys is the configuration of a program."""
        if get_origin(annotation) in (Union, types.UnionType) or hasattr(annotation, "__metadata__"):
            for inner in get_args(annotation):
                yield from self._members(getattr(inner, "json_schema_input_type", inner), location)
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


def _has_free_keys(annotation: Any) -> bool:
    return get_origin(annotation) is dict
