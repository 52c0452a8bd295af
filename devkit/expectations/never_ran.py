"""Whether a program never came to run: `never_ran: true`, or of one of several `never_ran: {program: reader}`.

Its processes may have refused their start, ended before their query began, or hung. A command that says
nothing runs once it fetched or wrote anything.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from devkit.expectations.base import NOTHING, Finding
from devkit.expectations.of_program import WhetherItDid, or_whether
from devkit.headroom.shortage import Window
from devkit.observe.arm_end import EndByRefusal
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import Observable
from located_config.count import counted


class NeverRan(WhetherItDid):
    """`it_did` false: its query ran at some time in the arm."""

    it_did: bool = Field(default=True, description="Whether its query never ran; false where it ran at some time.")


@dataclass(frozen=True)
class _NeverRan:
    name: str = "never_ran"
    summary: str = (
        "The query of the program never ran in the arm: each of its processes refused its start, ended before, or "
        "hung. With `false`, or `it_did: false`, it did run. A command runs once it fetched or wrote anything; it has "
        "to be the only program of its arm."
    )
    example: str = "true"
    argument: Any = Annotated[NeverRan, or_whether(NeverRan)]
    needs: frozenset[Observable] = NOTHING

    def judge(self, argument: NeverRan, observation: ArmObservation) -> Finding:
        if observation.main.ran is None:
            return Finding(self.name, str(argument), "n/a: it does not say when it runs", holds=None)
        after = f" in {counted(observation.main.restarts + 1, 'process', 'processes')}"
        measured = "it ran" if observation.main.ran else f"it never ran{after}"
        return Finding(self.name, str(argument), measured, observation.main.ran is not argument.it_did)

    def depends_on_time(self, argument: NeverRan, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """That it never ran might be for want of time, unless it said that it refused."""
        return None if observation.main.ran or isinstance(observation.end, EndByRefusal) else "arm"


NEVER_RAN = _NeverRan()
