"""Records of programs that were over a limit of their container."""

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict

from devkit.container.memory import Measure, TreeMemory, describe

KILLED = 137
"""The exit code by which a container's end at its limit is known: 128 and SIGKILL's number."""

EVERY = timedelta(milliseconds=200)
"""How often a program is looked at."""

Limit = Literal["memory", "disk"]
Enforcer = Literal["sampling", "engine"]

_MIB = 1 << 20


class ContainerKill(BaseModel):
    """A process of a program was over a limit of its container.

    `memory` is what it held at the look that found it out, or the most at any look where the engine did.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    process: int
    """Number of the process, from 1."""
    limit: Limit
    """Which limit it was over."""
    allowed: int
    """The limit, in bytes."""
    used: int
    """What was used, in bytes."""
    memory: TreeMemory
    """What each of its processes held, in bytes."""
    enforced_by: Enforcer = "sampling"
    """Whether the kit's looks found it out, or the container's engine."""

    @property
    def text(self) -> str:
        """For a person, with the way it was found out."""
        over = f"over its container's {self.limit} limit of {self.allowed / _MIB:.0f}MiB"
        what = f"{self.memory.measure} memory" if self.limit == "memory" else "a scratch directory"
        seen = f"{what} of {self.used / _MIB:.0f}MiB ({describe(self.memory)})" if self.memory.rows else "not seen here"
        every = f"every {EVERY // timedelta(milliseconds=1)}ms"
        if self.enforced_by == "engine":
            return f"{over}: the engine had a process of it killed; at most, of looks {every}: {seen}"
        return f"{over}: {seen}; killed as {KILLED}, enforced by sampling {every}"


class ContainerFigures(BaseModel):
    """In bytes: an arm's limits, None where there is none, the most that was seen of its program, and each kill."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_limit: int | None
    disk_limit: int | None
    measure: Measure
    peak_memory: int
    peak_disk: int
    kills: tuple[ContainerKill, ...] = ()
