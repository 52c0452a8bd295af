"""What a process says at its end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Stalled = Literal["batch", "commit", "planning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """SIGTERM or SIGINT was received: the batch and the rounds under way are finished, and no new ones begin."""

    event: Literal["stopping"] = "stopping"
    batch: int | None
    """Number of the batch under way; null between batches."""
    rounds: int
    """Number of rounds of the slow lane under way."""
    within_s: float
    """Seconds after which unfinished work is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The process stops gracefully."""

    event: Literal["stopped"] = "stopped"
    seconds: float
    """Seconds since the signal was received."""
    rounds_given_up: int
    """Number of rounds of the slow lane that did not end in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapDumped:
    """The driver's JVM ran out of memory, and has written its heap to a file."""

    event: Literal["heap_dumped"] = "heap_dumped"
    file: str
    """The file, on the driver's machine."""
    bytes: int
    """Its size."""
    classes: Mapping[str, int]
    """Bytes of the classes that take most of the heap, largest first; empty for a file that is over 1 GiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesLost:
    """The log was blocked for a time, for example by a full pipe; now lines are written again."""

    event: Literal["lines_lost"] = "lines_lost"
    lines: int
    """Number of lines missing before the last line. The line before the gap may be cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The process ends with an error."""

    event: Literal["failed"] = "failed"
    error: str
    """The error, in one line."""
    refused: bool = False
    """Whether the start was refused before the query began; a restart does not help then."""
    stalled: bool = False
    """Whether it ended because no commit came within `stall_timeout`."""
    stalled_in: Stalled | None = None
    """Where it stalled: in the work of a `batch`, in the `commit` that Spark writes to the checkpoint, or in `planning`
    the next batch, for which Spark asks the brokers where the source ends."""
