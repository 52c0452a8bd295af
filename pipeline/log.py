"""What the process says of itself: one JSON object a line on standard output. Spark's own log is on standard error.

A line that cannot be written is lost, and nothing else: who reads the log may go away or stand still, its disk may be
full, and no batch depends on that.
"""

import json
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TextIO

from located_config.redaction import redacted, redacted_text
from pipeline.events import Event, LinesLost, fields_of

# A pipe that has room at all has room for as much.
_PIECE = min(select.PIPE_BUF, 4096)


class LineOutput:
    """Lines into a standard stream whose reader may be slow or gone.

    A full pipe blocks the thread that writes to it, and that is the one that handles signals and late batches. So a
    line is written only where there is room for it, and none is kept for later: what Python still held at the end
    would change the exit code.

    The first line for which there is no room waits for it; then none does until there is some.
    """

    def __init__(self, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience_s, self._clock = patience_s, clock
        # Of a thread, which a signal's handler may interrupt in the middle of a line.
        self._lock = threading.RLock()
        self._is_stuck = self._is_torn = False
        self._lost = 0

    def take_lost(self) -> int:
        """How many lines were lost for want of room since the last call, once a line has been written again."""
        with self._lock:
            if self._is_stuck:
                return 0
            lost, self._lost = self._lost, 0
            return lost

    def give_back(self, lost: int) -> None:
        """What was taken, and could not be told."""
        with self._lock:
            self._lost += lost

    def write(self, text: str, stream: TextIO | None) -> bool:
        """Whether the line was not lost. `stream` is None when it was closed before the process began. Raises
        UnicodeEncodeError.
        """
        if stream is None or stream.closed:
            return False
        return self._write(f"{text}\n".encode(stream.encoding or "utf-8", stream.errors or "strict"), stream)

    def _write(self, line: bytes, stream: TextIO) -> bool:
        try:
            number = stream.fileno()
        except OSError:  # it is in memory
            with suppress(OSError):
                stream.write(line.decode(stream.encoding or "utf-8", stream.errors or "strict"))
                stream.flush()
            return True
        with self._lock, _not_blocking(number) as number:
            if self._is_torn:
                line = b"\n" + line
            self._is_stuck = not self._take(line, number)
            self._lost += self._is_stuck
            return not self._is_stuck

    def _take(self, line: bytes, number: int) -> bool:
        """Whether there was room for all of it."""
        until = self._clock() + (0.0 if self._is_stuck else self._patience_s)
        room = select.poll()
        room.register(number, select.POLLOUT)
        written = 0
        while written < len(line):
            if not room.poll(max(0.0, 1000 * (until - self._clock()))):
                return False
            try:
                written += os.write(number, line[written : written + _PIECE])
            except OSError as error:
                if isinstance(error, BlockingIOError) and self._clock() < until:
                    continue  # another process has taken the room
                return False  # as of a disk that is full
            # Now, as a signal may break this off while it waits for room.
            self._is_torn = written < len(line)
        return True


@contextmanager
def _not_blocking(number: int) -> Iterator[int]:
    """A terminal has room for less than a piece, and then holds who writes one: it is written to by another descriptor,
    which does not block and which no other process has. One that cannot be opened is written to as it is.
    """
    terminal = None
    if os.isatty(number):
        with suppress(OSError):
            terminal = os.open(os.ttyname(number), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        yield number if terminal is None else terminal
    finally:
        if terminal is not None:
            os.close(terminal)


# For a reader that is slow; less than what a stop leaves for the end of a batch.
_PATIENCE_S = 5.0
_STDOUT, _STDERR = LineOutput(_PATIENCE_S), LineOutput(_PATIENCE_S)


def emit(event: Event) -> None:
    """Print one line, with the time in UTC, without secrets."""
    if _is_written(event) and (lost := _STDOUT.take_lost()) and not _is_written(LinesLost(lines=lost)):
        _STDOUT.give_back(lost)


def _is_written(event: Event) -> bool:
    head = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event.event}
    line = head | redacted(fields_of(event))
    try:
        return _STDOUT.write(json.dumps(line, ensure_ascii=False), sys.stdout)
    except UnicodeEncodeError:
        return _STDOUT.write(json.dumps(line), sys.stdout)


def write_stderr(text: str) -> None:
    """Print on standard error, for a person, without secrets."""
    _STDERR.write(redacted_text(text), sys.stderr)
