"""Committed offsets as far as the main program shows them: by its checkpoint, or where it says that it keeps them."""

from devkit.observe.arm_observation import ArmObservation
from devkit.observe.figures import CheckpointSize
from devkit.observe.observable import why_not_observable


def partitions_read(observation: ArmObservation) -> int | None:
    """The number of source partitions with at least one committed event; None where it is not known."""
    return None if "offsets" in observation.not_observable else observation.last_sample.partitions_read


def checkpoint(observation: ArmObservation) -> CheckpointSize | None:
    """Size of the checkpoint, or of the file in its place; None where neither is known."""
    if "checkpoint" not in observation.not_observable:
        return observation.checkpoint
    return observation.stated_offsets.size if observation.stated_offsets else None


def why_no_offsets(observation: ArmObservation) -> str:
    """Why the partitions are not known."""
    stated = observation.stated_offsets
    return stated.problem if stated is not None else why_not_observable(frozenset({"offsets"}))


def why_no_checkpoint(observation: ArmObservation) -> str:
    """Why its size is not known."""
    if (stated := observation.stated_offsets) is not None:
        return stated.problem or f"{stated.place} is not a checkpoint of files"
    if "checkpoint" in observation.not_observable:
        return why_not_observable(frozenset({"checkpoint"}))
    return "no checkpoint was looked at"
