"""How large the checkpoint is at the arm's end."""

from devkit.expectations.base import Measure
from devkit.expectations.bounds import SizeBound
from devkit.expectations.committed_offsets import checkpoint, why_no_checkpoint
from devkit.observe.arm_observation import ArmObservation
from located_config.count import counted


def _value(observation: ArmObservation) -> int | None:
    size = checkpoint(observation)
    return None if size is None else size.bytes


def _format(value: int, observation: ArmObservation) -> str:
    size = checkpoint(observation)
    return f"{counted(value, 'byte')} in {counted(size.files if size else 0, 'file')}"


CHECKPOINT_SIZE = Measure(
    name="checkpoint_size",
    value=_value,
    argument=SizeBound,
    unknown=why_no_checkpoint,
    format_value=_format,
    summary=(
        "Size of all files of the main program's checkpoint at the arm's end, or of the file in which a command says "
        "that it keeps its offsets (docs/own-pipeline.md). A consumer group has no size: not observable."
    ),
    example="{at_most: 1MiB}",
)
