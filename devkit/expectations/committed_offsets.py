"""Committed offsets as far as the main program shows them: by its checkpoint, or where it says that it keeps them."""

from devkit.observe.arm_observation import ArmObservation
from devkit.observe.figures import CheckpointSize
from devkit.observe.observable import why_not_observable


def partitions_read(observation: ArmObservation) -> int | None:
    """The number of source partitions with at least one committed event; None where it is not known."""
    if "offsets" not in observation.not_observable:
        return observation.last_sample.partitions_read
    stated = observation.stated_offsets
    return None if stated is None or stated.problem else stated.partitions_read


def checkpoint(observation: ArmObservation) -> CheckpointSize | None:
    """Size of the checkpoint, or of the file in its place; None where neither is known."""
    if "offsets" not in observation.not_observable:
        return observation.checkpoint
    return observation.stated_offsets.size if observation.stated_offsets else None


def why_unknown(observation: ArmObservation) -> str:
    """Why one of these is None."""
    stated = observation.stated_offsets
    if "offsets" in observation.not_observable and stated is not None:
        return stated.problem or f"{stated.place} is not a checkpoint of files"
    if "offsets" in observation.not_observable:
        return why_not_observable(frozenset({"offsets"}))
    return "no checkpoint was looked at"
