"""Whether the backlog drained: all traffic is published, the committed offset is at its end, nothing is deferred.

Where offsets are not observable (some programs under test): every event that has to be emitted is.
"""

from dataclasses import dataclass
from typing import Any

from devkit.expectations.base import ExpectationKind, Finding
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName


@dataclass(frozen=True, kw_only=True)
class _Drained(ExpectationKind):
    name: str = "drained"
    summary: str = (
        "All traffic is published, the committed offset has reached its end, and nothing is deferred; with "
        "`false`, this does not hold. If offsets are not observable: every expected event was emitted."
    )
    example: str = "true"
    argument: Any = bool

    def judge(self, argument: bool, observation: ArmObservation) -> Finding:
        sample = observation.last_sample
        measured = f"committed {sample.committed} of {sample.source_end}"
        measured += f", {sample.deferred} deferred" if sample.deferred else ""
        if (emitted := observation.emitted) is not None:
            measured = f"{emitted.count} of {emitted.due} expected events were emitted"
        return Finding(self.name, str(argument).lower(), measured, observation.drained == argument)

    def bounds_progress(self, argument: bool, arm: ArmName) -> bool:  # noqa: ARG002
        """It says itself whether the arm was to be done."""
        return True

    def depends_on_time(self, argument: bool, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


DRAINED = _Drained()
