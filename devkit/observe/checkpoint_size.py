"""How large a checkpoint is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckpointSize:
    """Of all files together."""

    bytes: int
    files: int
