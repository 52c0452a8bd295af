"""The live view on a terminal: lines of what happened scroll above, a block below them shows the arm as it is now.

The block is erased and drawn anew; the cursor is hidden meanwhile and comes back however the run ends. Where the
output is no terminal, or the person asks for it, there are the plain lines of `Progress` alone.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from devkit.observe.sample import Sample
from devkit.report.live_block import ArmView, block_lines, marks
from devkit.report.progress import Moment, Progress
from devkit.report.sparkline import columns

_HIDE, _SHOW, _BELOW = "\x1b[?25l", "\x1b[?25h", "\x1b[J"
_COLOURS = {"arm": "1", "restart": "31", "fault": "33"}
_NARROWEST = 20

Size = Callable[[], tuple[int, int]]
"""Columns and lines of the terminal, now."""


def progress_for(stream: TextIO, *, plain: bool, environment: Mapping[str, str] = os.environ) -> Progress:
    """The live view when `stream` is a terminal that can be drawn on, else plain lines."""
    if plain or not stream.isatty() or environment.get("TERM", "dumb") == "dumb":
        return Progress(stream)
    return LiveProgress(
        stream,
        size=lambda: _size_of(stream),
        colour=not environment.get("NO_COLOR"),
        unicode=_can_write(stream, "█▁·"),
    )


class LiveProgress(Progress):
    """`close` takes the block away and gives the cursor back; leaving the context does so too."""

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        size: Size,
        colour: bool = True,
        unicode: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream if stream is not None else sys.stdout, clock=clock)
        self._size, self._colour, self._unicode = size, colour, unicode
        self._view: ArmView | None = None
        self._drawn: list[str] = []
        self._hidden = False

    def line(self, scope: str, text: str) -> None:
        self._erase()
        self.width = max(_NARROWEST, min(self.width_at_most, self._size()[0]))
        super().line(scope, text)
        self._draw()

    def phase(self, scope: str, phase: str, text: str, *, moment: Moment | None = None) -> None:
        if moment == "arm begins" or self._view is None or self._view.arm != scope:
            self._view = ArmView(scope)
        self._view.phase = f"{phase}: {text}"
        self._view.restarts += moment == "restart"
        super().phase(scope, phase, text, moment=moment)

    def sample(self, scope: str, sample: Sample, *, last: bool = False) -> None:
        """The block shows each; only the last of an arm leaves a line as well."""
        if self._view is None or self._view.arm != scope:
            self._view = ArmView(scope)
        self._view.add(sample)
        if last:
            super().sample(scope, sample, last=True)
        self._erase()
        self._draw()

    def close(self) -> None:
        self._erase()
        self._view = None
        if self._hidden:
            self._hidden = False
            self._write(_SHOW)

    def _erase(self) -> None:
        if self._drawn:
            # A terminal that was made narrower has wrapped the lines.
            width = max(1, self._size()[0])
            rows = sum(max(1, -(-columns(line) // width)) for line in self._drawn)
            self._drawn = []
            self._write(f"\x1b[{rows}A\r{_BELOW}")

    def _draw(self) -> None:
        if self._view is None:
            return
        width, height = self._size()
        # The last column stays free: a terminal may wrap a line that ends there.
        lines = block_lines(self._view, width - 1, unicode=self._unicode)[: max(0, height - 2)]
        self._drawn = lines
        hide = "" if self._hidden else _HIDE
        self._hidden = True
        self._write(hide + "".join(f"{self._coloured(line)}\n" for line in lines))

    def _coloured(self, line: str) -> str:
        if not self._colour or self._view is None:
            return line
        for mark in marks(self._view):
            if mark.text in line:
                line = line.replace(mark.text, f"\x1b[{_COLOURS[mark.kind]}m{mark.text}\x1b[0m", 1)
        return line

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _size_of(stream: TextIO) -> tuple[int, int]:
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return size.columns or 80, size.lines or 24


def _can_write(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
