"""A fixed arm that lost events, although nothing that it expects says how many it may lose.

A program that publishes nothing duplicates nothing and drains quickly. Which events are missing is in the audit, so a
fix that loses some is known to hold only if its file bounds the loss.
"""

from collections.abc import Iterator, Sequence

from devkit.expectations import Expectation
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmRole
from devkit.observe.audit.model import Audit
from devkit.observe.observable import Observable
from located_config.count import counted


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
    needed: set[Observable] = {"sources"} if observation.drained else {"sources", "offsets"}
    found = [(observation.audit, observation.not_observable)]
    found += [(program.audit, program.not_observable) for program in observation.programs if program.audit is not None]
    yield from (audit for audit, not_observable in found if not audit.unaudited and not not_observable & needed)
