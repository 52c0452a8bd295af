"""A fixed arm that lost events, although nothing that it expects says how many it may lose.

A program that publishes nothing duplicates nothing and drains quickly. Which events are missing is in the audit, so a
fix that loses some is known to hold only if its file bounds the loss.
"""

from collections.abc import Iterator, Sequence

from devkit.expectations import Expectation
from devkit.expectations.audit_counts import AuditCounts
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmRole
from devkit.observe.audit.model import Audit
from located_config.count import counted

_NONE_LOST = AuditCounts.model_validate({"lost": 0})


def unbounded_loss(role: ArmRole, expectations: Sequence[Expectation], observation: ArmObservation) -> str:
    """Why an arm is not known to hold although it breaks no expectation; "" if it holds."""
    if role != "fixed" or any(expectation.bounds_loss for expectation in expectations):
        return ""
    audits = [*_reliable_audits(observation)]
    lost, inputs = (sum(getattr(audit, name) for audit in audits) for name in ("lost", "inputs"))
    if not lost:
        return ""
    return (
        f"{lost} of {counted(inputs, 'event')} were lost, and nothing that it expects says how many may be: write "
        "`audit: { lost: 0 }` there, or the bound that the fix keeps"
    )


def _reliable_audits(observation: ArmObservation) -> Iterator[Audit]:
    """Those of programs whose records name their events; none where a fault removed records, or no truth is known."""
    if observation.hidden:
        return
    needed = _NONE_LOST.needs(drained=observation.drained)
    for audit, not_observable in observation.audited:
        if not audit.unaudited and not not_observable & needed:
            yield audit
