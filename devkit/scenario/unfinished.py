"""A fixed arm that breaks nothing as it stands still: its deadline ended it with events in the source, or a time of
`until` before it had taken any, and nothing that it expects speaks of that. A fix that hangs would pass for one that
holds.
"""

from collections.abc import Sequence

from devkit.expectations import Expectation
from devkit.expectations.timing import of_end
from devkit.observe.arm_end import EndByDeadline
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmRole
from located_config.count import counted


def unfinished(role: ArmRole, expectations: Sequence[Expectation], observation: ArmObservation) -> str:
    """Why an arm is not known to hold that breaks none of its expectations; "" where nothing stands against it."""
    end, waiting, last = observation.end, observation.audit.pending, observation.last_sample
    if role != "fixed" or observation.drained or of_end(observation) != "arm":
        return ""
    if any(expectation.kind == "drained" for expectation in expectations):
        return ""
    if waiting and isinstance(end, EndByDeadline):
        how = f"with {waiting} of {counted(observation.audit.inputs, 'event')} still in the source"
    elif not any((last.committed, last.outputs, last.errors, last.requests)):
        how = "before it had taken any event"
    else:
        return ""
    remedy = "raise `until.deadline`" if isinstance(end, EndByDeadline) else "let it end later"
    return (
        f"ended by its {end.text} {how}, and nothing that it expects says whether it may: write `drained` (or "
        f"`drained: false`) there, or {remedy}"
    )
