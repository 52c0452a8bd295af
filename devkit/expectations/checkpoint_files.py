"""Of how many files the checkpoint is at the arm's end: each is at least one request to the object store."""

from devkit.expectations.base import Measure
from devkit.expectations.committed_offsets import checkpoint, why_no_checkpoint
from devkit.observe.arm_observation import ArmObservation
from located_config.count import counted


def _value(observation: ArmObservation) -> int | None:
    size = checkpoint(observation)
    return None if size is None else size.files


def _format(value: int, observation: ArmObservation) -> str:
    batches = len(observation.batches)
    return f"{value}, of {counted(batches, 'batch', 'batches')}" if batches else f"{value}"


CHECKPOINT_FILES = Measure(
    name="checkpoint_files",
    value=_value,
    unknown=why_no_checkpoint,
    format_value=_format,
    summary="Number of files of the main program's checkpoint at the arm's end; in an object store each is an object.",
    example="{at_least: 400}",
)
