"""Whether a program never came to run: `never_ran: true`, or of one of several `never_ran: {program: reader}`.

Its processes refused their start, ended before their query began, or hung. A command runs once it has fetched or
written anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import WhetherItDid, or_whether
from devkit.headroom.shortage import Window
from devkit.observe.arm_end import EndByRefusal
from devkit.observe.arm_observation import ArmObservation
from located_config.count import counted


class NeverRan(WhetherItDid):
    """`it_did` false: its query ran at some time in the arm."""

    it_did: bool = Field(default=True, description="Whether its query never ran; false where it ran at some time.")


@dataclass(frozen=True, kw_only=True)
class _NeverRan(ExpectationKind):
    name: str = "never_ran"
    summary: str = (
        "The query of the program never ran in the arm: each of its processes refused its start, ended before its "
        "query ran, or hung. With `false`, or `it_did: false`: it did run. A command counts as running when it has "
        "fetched or written anything; it has to be the only program of its arm."
    )
    example: str = "true"
    argument: Any = Annotated[NeverRan, or_whether(NeverRan)]

    def judge(self, argument: NeverRan, observation: ArmObservation) -> Finding:
        if observation.main.ran is None:
            return Finding(self.name, str(argument), "n/a: it does not say when it runs", holds=None)
        after = f" in {counted(observation.main.restarts + 1, 'process', 'processes')}"
        measured = "it ran" if observation.main.ran else f"it never ran{after}"
        return Finding(self.name, str(argument), measured, observation.main.ran is not argument.it_did)

    def check(self, argument: NeverRan, arm: CheckedArm) -> Iterator[Flaw]:
        """A program that does not show whether it runs."""
        program = arm.program_of(argument).program
        if not program.shows_running or (program.command and len(arm.programs) > 1):
            yield Flaw("nothing shows whether this program runs: a pipeline says it, and a command that is alone")

    def depends_on_time(self, argument: NeverRan, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """A program that never ran may have lacked time, unless it refused its start."""
        return None if observation.main.ran or isinstance(observation.end, EndByRefusal) else "arm"


NEVER_RAN = _NeverRan()
