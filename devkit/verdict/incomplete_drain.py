"""A fixed arm that ended by time or by an amount, in `until` or by the deadline, before it had processed its events.

An arm that does little breaks nothing. It is known to hold only if its file bounds its progress, or if it kept up with
its traffic.
"""

from collections.abc import Sequence
from itertools import pairwise

from devkit.expectations import Expectation
from devkit.expectations.timing import end_window
from devkit.observe.arm_end import EndByDeadline
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName, ArmRole
from devkit.observe.samples.sample import NOTHING_SEEN, Sample
from located_config.count import counted

_BATCHES_OF_AN_EVENT = 2
"""An event waits for the current batch, and then for its own."""


def incomplete_drain(
    arm: ArmName, role: ArmRole, expectations: Sequence[Expectation], observation: ArmObservation
) -> str:
    """Why an arm is not known to hold although it breaks no expectation; "" if it holds."""
    if role != "fixed" or observation.drained or end_window(observation) != "arm":
        return ""
    if any(expectation.bounds_progress(arm) for expectation in expectations):
        return ""
    last, audit = observation.last_sample, observation.audit
    if not any((last.committed, last.outputs, last.errors, last.requests)):
        how = "before it had taken any event"
    elif not has_kept_up(observation):
        deferred = f" and {audit.deferred} deferred" if audit.deferred else ""
        how = f"with {audit.pending} of {counted(audit.inputs, 'event')} still in the source{deferred}"
    else:
        return ""
    remedy = "raise `until.deadline`" if isinstance(observation.end, EndByDeadline) else "let it end later"
    return (
        f"ended by its {observation.end.text} {how}, and nothing that it expects bounds its progress: write `drained` "
        f"(or `drained: false`), `rate` or `lag` there, or {remedy}"
    )


def has_kept_up(observation: ArmObservation) -> bool:
    """Whether all events are committed except the newest, and most of them are not just deferred.

    The newest events are those of the last two batches, by the longest time between two commits. This is checked for
    each partition. False without two commits, or if offsets are not observable.
    """
    audit = observation.audit
    if audit.deferred > audit.outputs + audit.errors:
        return False
    if not audit.pending:
        return True
    longest_s = _longest_commit_s(observation.samples)
    if "offsets" in observation.not_observable or longest_s is None:
        return False
    last = observation.samples[-1]
    due_s = last.at_s - _BATCHES_OF_AN_EVENT * longest_s
    due = next((sample for sample in reversed(observation.samples) if sample.at_s <= due_s), NOTHING_SEEN)
    return 0 < due.source_end <= last.committed and all(
        end <= last.source_ends[partition] - last.lags[partition] for partition, end in due.source_ends.items()
    )


def _longest_commit_s(samples: Sequence[Sample]) -> float | None:
    """The longest time to a commit, from the commit before it or from when events waited after that."""
    began_s: float | None = None
    longest_s: float | None = None
    for before, sample in pairwise(samples):
        is_commit = sample.committed > before.committed
        if is_commit and began_s is not None:
            longest_s = max(longest_s or 0.0, sample.at_s - began_s)
        if is_commit or (began_s is None and before.committed and sample.lag):
            began_s = sample.at_s if sample.lag else None
    return longest_s
