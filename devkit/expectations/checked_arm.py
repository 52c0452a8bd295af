"""An arm of a scenario file, as a kind of expectation checks its argument against it.

ExpectationKind.check(argument, CheckedArm) -> Flaws
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from devkit.container.limits import Container
from devkit.expectations.program_argument import named_program
from devkit.observe.arm_role import TWO_ARMS, ArmName
from devkit.programs.program import ConfiguredProgram, Program
from devkit.traffic.model import TrafficSpec
from located_config.place import Location


@dataclass(frozen=True)
class Flaw:
    """Why an argument decides nothing in any run. `key` is the place in the argument, () for the whole argument.

    A flaw that `is_playable` does not prevent a run with `--unchecked`.
    """

    text: str
    key: Location = ()
    is_playable: bool = False


@dataclass(frozen=True)
class CheckedProgram:
    """`configured` is None if its settings are invalid, which another check reports."""

    program: Program
    configured: ConfiguredProgram | None


@dataclass(frozen=True, eq=False)
class CheckedArm:
    """`rules` are the names of its rules of the mock, `phases` those of its faults and phases of traffic, `attempts`
    are those of its supervisor. `expected` has
    the kind and the argument of each expectation. `programs` has the main one first; the only program has no name.
    `arms` are all arms of the scenario in the order of play.
    """

    name: ArmName
    arms: Mapping[ArmName, "CheckedArm"]
    programs: Mapping[str, CheckedProgram]
    expected: tuple[tuple[str, Any], ...]
    traffic: TrafficSpec
    rules: tuple[str, ...]
    phases: tuple[str, ...]
    source_partitions: int
    has_ending_fault: bool
    attempts: int | None
    container: Container | None

    @property
    def main(self) -> CheckedProgram:
        """The program of expectations that name none."""
        return next(iter(self.programs.values()))

    def program_of(self, argument: Any) -> CheckedProgram:
        """The program of an argument. Raises KeyError if the scenario does not have it."""
        name = named_program(argument)
        return self.main if name is None else self.programs[name]

    def require_elsewhere(
        self, kind: str, shows: Callable[[Any], bool], text: str, key: Location = ()
    ) -> Iterator[Flaw]:
        """A flaw of an absence that no other arm shows the presence of, by an expectation of that kind which `shows`
        it; `{other}` in the text becomes where it was looked for.
        """
        others = (arm for name, arm in self.arms.items() if name != self.name)
        if not any(stated == kind and shows(argument) for arm in others for stated, argument in arm.expected):
            other = "another arm" if len(self.arms) > len(TWO_ARMS) else "the other arm"
            yield Flaw(text.replace("{other}", other), key)
