"""What a scenario file says of an arm, as far as a kind of expectation checks its argument against it.

ExpectationKind.check(argument, CheckedArm) -> Flaws      a kind checks its own argument
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devkit.container.limits import Container
from devkit.expectations.program_argument import named_program
from devkit.observe.arm_role import ArmName
from devkit.programs.program import ConfiguredProgram, Program
from devkit.traffic.model import TrafficSpec
from located_config.place import Location


@dataclass(frozen=True)
class Flaw:
    """Why an argument decides nothing, whatever happens in the run. `key` is its place in the argument, () the argument
    itself.

    One that `is_playable` is no obstacle to a run that is not to prove anything: a test that swaps the arms.
    """

    text: str
    key: Location = ()
    is_playable: bool = False


@dataclass(frozen=True)
class CheckedProgram:
    """`configured` is None where its settings are refused, which another check reports."""

    program: Program
    configured: ConfiguredProgram | None


@dataclass(frozen=True, eq=False)
class CheckedArm:
    """`phases` are the names of its faults and parts of its traffic, `attempts` those of its supervisor, and `expected`
    the kind and the argument of each of its expectations. `programs` has the main one first, which has no name where it
    is the only one. `arms` are all of the scenario in the order of play.
    """

    name: ArmName
    arms: Mapping[ArmName, "CheckedArm"]
    programs: Mapping[str, CheckedProgram]
    expected: tuple[tuple[str, Any], ...]
    traffic: TrafficSpec
    phases: tuple[str, ...]
    source_partitions: int
    has_ending_fault: bool
    attempts: int | None
    container: Container | None

    @property
    def main(self) -> CheckedProgram:
        """The program that expectations are about that name none."""
        return next(iter(self.programs.values()))

    def program_of(self, argument: Any) -> CheckedProgram:
        """The program that an argument is about. Raises KeyError for one that the scenario does not have."""
        name = named_program(argument)
        return self.main if name is None else self.programs[name]
