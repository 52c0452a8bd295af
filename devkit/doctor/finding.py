"""The finding of a check."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]

GIB = 1024**3


@dataclass(frozen=True)
class MachineFinding:
    """``warn``: runs, with a limit that ``detail`` names; ``fail``: no run can work. ``hint``: what to do about it."""

    name: str
    status: Status
    detail: str
    hint: str | None = None


def gib(size_bytes: int) -> str:
    """A size in GiB, as a person reads it."""
    return f"{size_bytes / GIB:.1f} GiB"
