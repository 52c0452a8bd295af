"""Whether the supervisor gave up on a program: `gave_up: true`, or of one of several `gave_up: {program: reader}`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import WhetherItDid, or_whether
from devkit.expectations.timing import restart_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from located_config.count import counted


class GaveUp(WhetherItDid):
    """`it_did` false: it had not given up by the arm's end."""

    it_did: bool = Field(default=True, description="Whether the supervisor gave up by the arm's end.")


@dataclass(frozen=True, kw_only=True)
class _GaveUp(ExpectationKind):
    name: str = "gave_up"
    summary: str = (
        "The supervisor gave up on the program, by the `attempts` of its policy. With `false`, or `it_did: false`: "
        "it had not given up by the arm's end."
    )
    example: str = "true"
    argument: Any = Annotated[GaveUp, or_whether(GaveUp)]

    def judge(self, argument: GaveUp, observation: ArmObservation) -> Finding:
        main = observation.main
        restarts = counted(main.restarts, "restart")
        measured = (
            f"gave up after {main.gave_up_after or restarts}" if main.gave_up else f"not given up after {restarts}"
        )
        return Finding(self.name, str(argument), measured, main.gave_up is argument.it_did)

    def check(self, argument: GaveUp, arm: CheckedArm) -> Iterator[Flaw]:
        """A supervisor without `attempts` never gives up."""
        if argument.it_did and arm.attempts is None:
            yield Flaw("this arm's supervisor never gives up: write `supervisor: { attempts: 3 }`")

    def depends_on_time(self, argument: GaveUp, observation: ArmObservation) -> Window | None:
        """As its restarts do."""
        return restart_window(argument, observation)


GAVE_UP = _GaveUp()
