"""The role of a program's process, by which a fault picks the one that it ends."""

from typing import Literal

Role = Literal["driver", "executor", "worker"]
