"""A fixed arm that breaks nothing as it stands still: its deadline ended it with events in the source, and nothing that
it expects speaks of that. A fix that hangs would pass for one that holds.
"""

from collections.abc import Sequence

from devkit.expectations import Expectation
from devkit.observe.arm_end import EndByDeadline
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmRole
from located_config.count import counted


def unfinished(role: ArmRole, expectations: Sequence[Expectation], observation: ArmObservation) -> str:
    """Why an arm is not known to hold that breaks none of its expectations; "" where nothing stands against it."""
    waiting = observation.audit.pending
    if role != "fixed" or not isinstance(observation.end, EndByDeadline) or observation.drained or not waiting:
        return ""
    if any(expectation.kind == "drained" for expectation in expectations):
        return ""
    return (
        f"ended by its {observation.end.text} with {waiting} of {counted(observation.audit.inputs, 'event')} still in "
        "the source, and nothing that it expects says whether it may: write `drained` (or `drained: false`) there, or "
        "raise `until.deadline`"
    )
