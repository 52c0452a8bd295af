"""Whether the delivery audit is clean: every input event met its expected fate, once and in order."""

from dataclasses import dataclass
from typing import Any, Literal

from devkit.expectations.base import NOTHING, Finding
from devkit.headroom.shortage import Window
from devkit.observe.arm import ArmObservation, TimelineEvidence
from devkit.observe.sight import Sight, not_observable

_OF_ABSENCE = {"lost"}
"""Problems that records which are not observable would not have been."""
_OF_NO_MACHINE = {"lost", "out_of_order", "duplicated", "conflicting"}
"""Problems that no shortage of time excuses. The others it may have made: a fetch that timed out is an error event."""


@dataclass(frozen=True)
class _Audit:
    name: str = "audit"
    summary: str = (
        "Every input event met its expected fate, once and in order: nothing lost, duplicated, conflicting, "
        "out of order, in the wrong topic or with another payload."
    )
    example: str = "clean"
    argument: Any = Literal["clean"]
    needs: frozenset[Sight] = NOTHING

    def judge(self, argument: str, observation: ArmObservation) -> Finding:
        audit = observation.audit
        problems = audit.problems(restarted=observation.restarts > 0)
        if not audit.inputs:
            measured = "no inputs"
        elif audit.inputs == audit.pending:
            measured = f"nothing was committed: all {audit.inputs} inputs are still in the source"
        elif problems:
            measured = ", ".join(f"{name} {count}" for name, count in problems.items())
        else:
            measured = (
                f"clean: {audit.inputs} in = {audit.outputs} out + {audit.errors} errors + {audit.filtered} filtered"
                + (f" + {audit.deferred} deferred" if audit.deferred else "")
                + (f" + {audit.pending} still in the source" if audit.pending else "")
            )
        if (hidden := _hidden(observation)) and problems.keys() <= _OF_ABSENCE:
            return Finding(self.name, argument, f"n/a: {'; '.join(hidden)}", holds=None)
        if unsure := _not_known(observation, bool(problems)):
            return Finding(self.name, argument, not_observable(unsure), holds=None)
        # An audit of nothing, or of events that the pipeline never took, shows nothing.
        holds = not problems and audit.inputs > audit.pending
        return Finding(self.name, argument, measured, holds, decisive=not problems.keys().isdisjoint(_OF_NO_MACHINE))

    def depends_on_time(self, argument: str, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        """That nothing was taken by the arm's end does, and that events left another way than they had to. What was
        lost or reordered was so whatever the machine did.
        """
        audit = observation.audit
        problems = audit.problems(restarted=observation.restarts > 0)
        if not problems:
            return "arm" if audit.inputs == audit.pending else None
        return "arm" if problems.keys().isdisjoint(_OF_NO_MACHINE) else None


def _hidden(observation: ArmObservation) -> list[str]:
    """What faults took from sight."""
    return [item.hides for item in observation.evidence if isinstance(item, TimelineEvidence) and item.hides]


def _not_known(observation: ArmObservation, has_problems: bool) -> frozenset[Sight]:
    """What would have to be seen: a record's source, and of events that have not left, whether they still may."""
    needed: set[Sight] = {"sources"}
    if not has_problems and not observation.drained:
        needed.add("offsets")
    return observation.unseen & needed


AUDIT = _Audit()
