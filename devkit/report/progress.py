"""Plain lines while a run goes on, readable at 80 columns, without colour and without a terminal."""

import sys
import textwrap
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Literal, Self

from devkit.observe.sample import Sample

Moment = Literal["arm begins", "restart"]
_QUIET_S = 2.0
_WIDTH = 80


class Progress:
    """A sample gets a line when something moved since the last, at most every two seconds.

    A context manager, as what takes its place on a terminal has to tidy up.
    """

    width_at_most = _WIDTH

    def __init__(self, stream: IO[str] | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream is not None else sys.stdout
        self._clock = clock
        self.width = self.width_at_most
        self._started = clock()
        self._last_at = self._started - _QUIET_S
        self._last: tuple[str, int, int, int, int] | None = None

    def line(self, scope: str, text: str) -> None:
        head = f"{self._clock() - self._started:6.1f}s {scope:<8} "
        lines = textwrap.wrap(
            text,
            self.width,
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        )
        self._write("\n".join(lines or [head.rstrip()]))

    def _write(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()

    def phase(self, scope: str, phase: str, text: str, *, moment: Moment | None = None) -> None:  # noqa: ARG002
        """An arm goes on to something else. `moment` says what that is where a view of the arm shows it."""
        self.line(scope, f"{phase}: {text}")

    def close(self) -> None:
        """Nothing more comes for now: others may write to the terminal."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def sample(self, scope: str, sample: Sample, *, last: bool = False) -> None:
        """`last` is the sample an arm ends with: it is never held back."""
        now = self._clock()
        figures = (scope, sample.committed, sample.source_end, sample.outputs, sample.errors)
        if figures == self._last or (now - self._last_at < _QUIET_S and not last):
            return
        self._last_at, self._last = now, figures
        faults = "".join(f", fault {name!r} {count} times" for name, count in sample.faults.items() if count)
        self.line(
            scope,
            f"committed {sample.committed}/{sample.source_end}, lag {sample.lag}, "
            f"out {sample.outputs}, errors {sample.errors}, fetches {sample.requests}{faults}",
        )
