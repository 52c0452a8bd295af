"""Notices a micro-batch that does not commit in its time, and a next one that is not planned, so that silence becomes a
failure that the supervisor sees.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.errors import PipelineError
from pipeline.events import Stalled

_HINTS: dict[Stalled, str] = {
    "batch": "stall_timeout says how long a batch may take; deferral keeps slow records from holding it",
    "commit": "Spark writes the commit to the checkpoint: look at the object store",
    "planning": "to plan a batch, Spark asks the brokers where the source ends and writes that to the checkpoint: look "
    "at both",
}


class StalledError(PipelineError):
    """Nothing was committed within `stall_timeout`, or `commit.timeout`; tasks may still be running."""

    def __init__(self, message: str, stage: Stalled, *, hint: str | None = None) -> None:
        """`stage` is what did not come to its end."""
        super().__init__(message, hint=_HINTS[stage] if hint is None else hint)
        self.stage = stage


@dataclass(frozen=True, slots=True)
class _Awaited:
    batch: int
    stage: Stalled
    since: float

    @property
    def text(self) -> str:
        match self.stage:
            case "batch":
                return f"batch {self.batch} is still at work"
            case "commit":
                return f"batch {self.batch} is emitted, and its commit is not written"
            case "planning":
                return f"batch {self.batch} is committed, and the next one is not planned"


class StallWatch:
    """Told when the work of a batch begins, when it is emitted and when it is committed; asked now and then whether it
    is late. The time of a batch includes that of its commit; planning the next one has as long again.
    """

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._awaited: _Awaited | None = None

    def begin(self, batch: int) -> None:
        """The time of the batch begins."""
        with self._lock:
            self._awaited = _Awaited(batch, "batch", self._clock())

    @property
    def batch(self) -> int | None:
        """The batch at work, or the last one while the next is planned; None while nothing is awaited."""
        with self._lock:
            return self._awaited.batch if self._awaited else None

    def emitted(self, batch: int) -> None:
        """The batch is written to the sink; Spark commits it."""
        with self._lock:
            if self._awaited is not None and self._awaited.batch == batch:
                self._awaited = _Awaited(batch, "commit", self._awaited.since)

    def committed(self, batch: int) -> None:
        """The batch is committed, and the next one is planned. Nothing happens when another one is at work."""
        with self._lock:
            if self._awaited is not None and self._awaited.batch == batch:
                self._awaited = _Awaited(batch, "planning", self._clock())

    def end(self, batch: int | None = None) -> None:
        """Nothing is under way: the batch is committed, whichever it is when none is named, and no next one is planned.
        Nothing happens when another one was at work.
        """
        with self._lock:
            if self._awaited is not None and batch in (None, self._awaited.batch):
                self._awaited = None

    def check(self) -> None:
        """Raises StalledError when a batch is late, or the plan of the next one."""
        with self._lock:
            awaited = self._awaited
            if awaited is None or self._clock() - awaited.since <= self._limit_s:
                return
        raise StalledError(f"no commit within {self._limit_s:g} s: {awaited.text}", awaited.stage)
