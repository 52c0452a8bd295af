"""Notices a micro-batch that does not commit in its time, so that silence becomes a failure that
the supervisor sees.
"""

import threading
from collections.abc import Callable

from pipeline.errors import PipelineError


class StalledError(PipelineError):
    """A micro-batch did not commit within `stall_timeout`; its tasks may still be running."""


class StallWatch:
    """Told when the work of a batch begins and when it is committed; asked now and then whether it is late."""

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._running: tuple[int, float] | None = None

    def begin(self, batch: int) -> None:
        """The time of the batch begins."""
        with self._lock:
            self._running = batch, self._clock()

    @property
    def batch(self) -> int | None:
        """The batch at work, if there is one."""
        with self._lock:
            return self._running[0] if self._running else None

    def end(self, batch: int | None = None) -> None:
        """The batch is committed, whichever it is when none is named; nothing happens when it was not running."""
        with self._lock:
            if self._running is not None and batch in (None, self._running[0]):
                self._running = None

    def check(self) -> None:
        """Raises StalledError when a batch is late."""
        with self._lock:
            if self._running is None or self._clock() - self._running[1] <= self._limit_s:
                return
            batch = self._running[0]
        raise StalledError(
            f"no commit within {self._limit_s:g} s: batch {batch} is still at work",
            hint="stall_timeout says how long a batch may take; deferral keeps slow records from holding it",
        )
