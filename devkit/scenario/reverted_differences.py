"""For each difference between fixed and incident arm, the scenario in which the fixed arm does not have it.

The two arms' own sections are compared as written, down to single values and lists. A key that one arm leaves out is
then left out in the other. A fault of the timeline that only the incident arm has is a difference, too. `tried_first`
and `expect` are not compared.
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
    """One difference, and its place in the file. A value is None if the arm does not state it."""

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
        """The file without the difference; None if nothing changes, as the written value is the default.

        Raises InvalidFileError if the rest is invalid without it.
        """
        without = with_document(file, self.document)
        same = without.resolved(instead).difference == file.resolved(instead).difference
        return None if same else without


def reverted_differences(file: LoadedFile, fixed: ArmName, incident: ArmName) -> Iterator[RevertedDifference]:
    """One for each difference, in the order of the file."""
    arms = file.document["arms"]
    written = {arm: arms[arm] or {} for arm in (fixed, incident)}
    for place, values in differing(written, missing=_ABSENT, is_open=_is_section):
        if place == _NO_DIFFERENCE:
            continue
        document = copy.deepcopy(file.document)
        # A copy of its own, as an alias may have made one value of both.
        document["arms"][fixed] = copy.deepcopy(document["arms"][fixed] or {})
        _set_value(document["arms"][fixed], place, values[incident])
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


def _is_section(value: Any) -> bool:
    """A mapping, or a missing value where the other arm may have a mapping."""
    return isinstance(value, Mapping) or value is _ABSENT or value is None


def _set_value(value: Any, place: Location, new: Any) -> None:
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
