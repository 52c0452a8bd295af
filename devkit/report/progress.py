"""Progress of a run as plain lines, one for each statement, wrapped only where the output is a terminal."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import IO, Literal, Self

from devkit.observe.samples.sample import Sample
from devkit.report.text_layout import width_of, wrapped
from located_config.count import counted
from located_config.redaction import redacted_text

Moment = Literal["arm begins", "restart"]
_QUIET_S = 2.0


class Progress:
    """A sample gets a line when a figure has changed since the last one, at most every two seconds. The line has what
    waits for the programs that read the main one's records. It names a fault that begins to match requests; a fault is
    named again only after a line in which it matched none.

    A context manager, as the live view that replaces it on a terminal has to clean up.
    """

    def __init__(self, stream: IO[str] | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream is not None else sys.stdout
        self._clock = clock
        self._started = clock()
        self._last_at = self._started - _QUIET_S
        self._last: tuple[str, int, int, int, int, dict[str, int]] | None = None
        self._matched: dict[str, int] = {}
        self._active: frozenset[str] = frozenset()

    @property
    def width(self) -> int | None:
        """Columns to wrap at; None for lines that end where the statement ends."""
        return width_of(self._stream)

    def line(self, scope: str, text: str) -> None:
        """`scope` is an arm or a part. The line begins with the seconds since this object was made."""
        head = f"{self._clock() - self._started:6.1f}s {scope:<8} "
        self._write("\n".join(wrapped(redacted_text(text), head, self.width)))

    def _write(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()

    def phase(self, scope: str, phase: str, text: str, *, moment: Moment | None = None) -> None:  # noqa: ARG002
        """An arm enters a phase. `moment` names a phase that the live view shows."""
        self.line(scope, f"{phase}: {text}")

    def close(self) -> None:
        """Give up the terminal, so that others may write to it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def sample(self, scope: str, sample: Sample, *, shows_offsets: bool = True, last: bool = False) -> None:
        """The `last` sample of an arm always gets a line. `shows_offsets` is whether commits are observable."""
        now = self._clock()
        behind = {name: count for name, count in sample.waiting.items() if count}
        figures = (scope, sample.committed, sample.source_end, sample.outputs, sample.errors, behind)
        if figures == self._last or (now - self._last_at < _QUIET_S and not last):
            return
        if self._last is None or self._last[0] != scope:
            self._matched, self._active = {}, frozenset()
        self._last_at, self._last = now, figures
        commits = f"committed {sample.committed}/{sample.source_end}, lag {sample.lag}"
        hidden = f"committed n/a, lag n/a, published {sample.source_end}"
        waiting = "".join(f", {name} {count} behind" for name, count in behind.items())
        # A replay emits records again while the committed offsets do not move.
        repeats = f" (up to {counted(sample.read_again, 'repeat')} after replays)" if sample.read_again else ""
        self.line(
            scope,
            f"{commits if shows_offsets else hidden}{waiting}, "
            f"out {sample.outputs}{repeats}, errors {sample.errors}, fetches {sample.requests}{self._faults(sample)}",
        )

    def _faults(self, sample: Sample) -> str:
        """The faults that match requests now and did not at the line before."""
        active = frozenset(name for name, count in sample.faults.items() if count > self._matched.get(name, 0))
        begun = [name for name in sample.faults if name in active - self._active]
        self._matched, self._active = dict(sample.faults), active
        return "".join(f", fault {name!r} matched {counted(sample.faults[name], 'request')}" for name in begun)


@contextlib.contextmanager
def heartbeat(
    write_line: Callable[[str], None], text: str | Callable[[], str], *, every: timedelta = timedelta(seconds=20)
) -> Iterator[None]:
    """Write `text` and the elapsed seconds again and again, from a thread of its own, until the context is left. A
    callable gives the text of each line.
    """
    ended, began = threading.Event(), time.monotonic()

    def write_until_ended() -> None:
        while not ended.wait(every.total_seconds()):
            written = text if isinstance(text, str) else text()
            write_line(f"{written}, {time.monotonic() - began:.0f} s so far")

    thread = threading.Thread(target=write_until_ended, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
