"""Plain lines while a run goes on, readable at 80 columns, without colour and without a terminal."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from devkit.observe.arm import Sample

_QUIET_S = 2.0


class Progress:
    """A sample gets a line when something moved since the last, at most every two seconds."""

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream is not None else sys.stdout
        self._clock = clock
        self._started = clock()
        self._last_at = self._started - _QUIET_S
        self._last: tuple[str, int, int, int, int] | None = None

    def line(self, scope: str, text: str) -> None:
        elapsed = self._clock() - self._started
        self._stream.write(f"{elapsed:6.1f}s {scope:<8} {text}\n")
        self._stream.flush()

    def sample(self, scope: str, sample: Sample, fired: Mapping[str, int]) -> None:
        now = self._clock()
        figures = (scope, sample.committed, sample.source_end, sample.outputs, sample.errors)
        if now - self._last_at < _QUIET_S or figures == self._last:
            return
        self._last_at, self._last = now, figures
        faults = "".join(f", fault {name!r} {count} times" for name, count in fired.items() if count)
        self.line(
            scope,
            f"committed {sample.committed}/{sample.source_end}, lag {sample.lag}, "
            f"out {sample.outputs}, errors {sample.errors}, fetches {sample.requests}{faults}",
        )
