"""Whether the supervisor gave up on a program: `gave_up: true`, or of one of several `gave_up: {program: reader}`."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from devkit.expectations.base import NOTHING, Finding
from devkit.expectations.of_program import WhetherItDid, or_whether
from devkit.expectations.timing import restarts_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import Observable
from located_config.count import counted


class GaveUp(WhetherItDid):
    """`it_did` false: it had not given up by the arm's end."""

    it_did: bool = Field(default=True, description="Whether the supervisor gave up by the arm's end.")


@dataclass(frozen=True)
class _GaveUp:
    name: str = "gave_up"
    summary: str = (
        "The supervisor gave up on the program, by the `attempts` of its policy; with `false`, or `it_did: false`, it "
        "had not by the arm's end."
    )
    example: str = "true"
    argument: Any = Annotated[GaveUp, or_whether(GaveUp)]
    needs: frozenset[Observable] = NOTHING

    def judge(self, argument: GaveUp, observation: ArmObservation) -> Finding:
        after = f"after {counted(observation.main.restarts, 'restart')}"
        measured = f"gave up {after}" if observation.main.gave_up else f"not given up {after}"
        return Finding(self.name, str(argument), measured, observation.main.gave_up is argument.it_did)

    def depends_on_time(self, argument: GaveUp, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """As the restarts do of which it had enough."""
        return restarts_window(observation)


GAVE_UP = _GaveUp()
