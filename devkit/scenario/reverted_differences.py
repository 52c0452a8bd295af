"""A scenario whose fixed arm has one difference less from its incident arm, for each of them.

What the two arms have of their own is compared as the file has it, down to single values and lists; what one of them
leaves out is then left out in the other. A fault of the timeline that only the incident arm has is a difference, too.
What is tried first and what is expected are none.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from devkit.observe.arm_role import ArmName, arms_named
from devkit.observe.settings import ChangedValue
from devkit.programs.program import Program
from devkit.scenario.load import LoadedFile, with_document
from devkit.yaml_input import plain
from located_config.dotted_keys import differing
from located_config.place import Location, shown

_ABSENT = object()
_NO_DIFFERENCE = ("role",)


@dataclass(frozen=True)
class RevertedDifference:
    """One difference of an arm, and its place in the file. None is what the arm does not say itself."""

    difference: str
    place: str
    incident: Any
    fixed: Any
    document: Any

    @property
    def changed_value(self) -> ChangedValue:
        """For the reports of the run without it."""
        return ChangedValue(place=self.place, before=self.fixed, value=self.incident)

    def load(self, file: LoadedFile, instead: Program | None = None) -> LoadedFile | None:
        """The file without the difference; None where nothing is otherwise then, as a default is what was written.

        Raises InvalidFileError where the rest cannot be played without it.
        """
        without = with_document(file, self.document)
        same = without.resolved(instead).difference == file.resolved(instead).difference
        return None if same else without


def reverted_differences(file: LoadedFile, fixed: ArmName, incident: ArmName) -> Iterator[RevertedDifference]:
    """One for each difference, in the order of the file."""
    arms = file.document["arms"]
    written = {arm: arms[arm] or {} for arm in (fixed, incident)}
    for place, values in differing(written, missing=_ABSENT, is_open=_is_open):
        if place == _NO_DIFFERENCE:
            continue
        document = copy.deepcopy(file.document)
        # A copy of its own, as an alias may have made one value of both.
        document["arms"][fixed] = copy.deepcopy(document["arms"][fixed] or {})
        _put(document["arms"][fixed], place, values[incident])
        full_place = shown(("arms", fixed, *place))
        yield RevertedDifference(shown(place), full_place, _plain(values[incident]), _plain(values[fixed]), document)
    roles = file.scenario.roles
    for number, item in enumerate(file.scenario.timeline):
        having = arms_named(item.arms, roles)
        if incident in having and fixed not in having:
            document = copy.deepcopy(file.document)
            document["timeline"][number]["arms"] = [*having, fixed]
            name = f"timeline.{item.name}"
            yield RevertedDifference(name, name, str(item), None, document)


def _is_open(value: Any) -> bool:
    """Whether one may look into it: a mapping, or nothing at all where the other has one."""
    return isinstance(value, Mapping) or value is _ABSENT or value is None


def _put(value: Any, place: Location, new: Any) -> None:
    *above, last = place
    for key in above:
        if not isinstance(value.get(key), Mapping):
            value[key] = {}
        value = value[key]
    if new is _ABSENT:
        value.pop(last, None)
    else:
        value[last] = copy.deepcopy(new)


def _plain(value: Any) -> Any:
    return None if value is _ABSENT else plain(value)
