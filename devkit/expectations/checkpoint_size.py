"""How large the checkpoint is at the arm's end."""

from devkit.expectations.base import Measure
from devkit.expectations.bounds import SizeBound
from devkit.observe.arm_observation import ArmObservation
from located_config.count import counted


def _format(value: int, observation: ArmObservation) -> str:
    files = observation.checkpoint.files if observation.checkpoint else 0
    return f"{counted(value, 'byte')} in {counted(files, 'file')}"


CHECKPOINT_SIZE = Measure(
    name="checkpoint_size",
    value=lambda observation: observation.checkpoint.bytes if observation.checkpoint else None,
    argument=SizeBound,
    unknown="no checkpoint was looked at",
    format_value=_format,
    needs=frozenset({"offsets"}),
    summary="Size of all files of the main program's checkpoint at the arm's end.",
    example="{at_most: 1MiB}",
)
