"""What is known of a program that was over a limit of its container."""

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict

from devkit.container.memory import Measure, TreeMemory, describe

KILLED = 137
"""The exit code by which a container's end at its limit is known: 128 and SIGKILL's number."""

EVERY = timedelta(milliseconds=200)
"""How often a program is looked at."""

Limit = Literal["memory", "disk"]

_MIB = 1 << 20


class ContainerKill(BaseModel):
    """Process number `process` of a program was over a limit. Sizes in bytes; `memory` is what it held then."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    process: int
    limit: Limit
    allowed: int
    used: int
    memory: TreeMemory

    @property
    def text(self) -> str:
        """What a person is told, with the way it was found out."""
        what = f"{self.memory.measure} memory" if self.limit == "memory" else "a scratch directory"
        return (
            f"over its container's {self.limit} limit of {self.allowed / _MIB:,.0f} MiB: "
            f"{what} of {self.used / _MIB:,.0f} MiB ({describe(self.memory)}); "
            f"killed as {KILLED}, enforced by sampling every {EVERY // timedelta(milliseconds=1)} ms"
        )


class ContainerFigures(BaseModel):
    """In bytes: an arm's limits, None where there is none, the most that was seen of its program, and each kill."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_limit: int | None
    disk_limit: int | None
    measure: Measure
    peak_memory: int
    peak_disk: int
    kills: tuple[ContainerKill, ...] = ()
