"""The live view on a terminal: lines of what happened scroll above, a block below them shows the arm as it is now.

Where the output is no terminal, or the person asks for it, there are the plain lines of `Progress` alone.
"""

import os
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
from rich.text import Text

from devkit.observe.samples.sample import Sample
from devkit.report.live_block import ArmView, block_lines, marks
from devkit.report.progress import Moment, Progress

_STYLES = {"arm": "bold", "restart": "red", "fault": "yellow"}
_NARROWEST = 20


def progress_for(stream: TextIO, *, plain: bool, environment: Mapping[str, str] = os.environ) -> Progress:
    """The live view when `stream` is a terminal that can be drawn on, else plain lines."""
    if plain or not stream.isatty() or environment.get("TERM", "dumb") == "dumb":
        return Progress(stream)
    console = Console(
        file=stream,
        force_terminal=True,
        color_system=None if environment.get("NO_COLOR") else "standard",
        _environ=environment,
    )
    return LiveProgress(console)


class LiveProgress(Progress):
    """`close` takes the block away and gives the cursor back; leaving the context does so too."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console.file, clock=clock)
        self._console = console
        self._view: ArmView | None = None
        self._live: Live | None = None
        self._drawn: list[str] = []

    @property
    def width(self) -> int | None:
        """The terminal's columns now, at least 20; never None."""
        return max(_NARROWEST, self._console.width)

    def line(self, scope: str, text: str) -> None:
        """It scrolls above the block, which is drawn again; before an arm has begun there is no block."""
        super().line(scope, text)
        self._draw()

    def phase(self, scope: str, phase: str, text: str, *, moment: Moment | None = None) -> None:
        """`arm begins`, or another `scope`, empties the block; `restart` counts in it."""
        if moment == "arm begins" or self._view is None or self._view.arm != scope:
            self._view = ArmView(scope)
        self._view.phase = f"{phase}: {text}"
        self._view.restarts += moment == "restart"
        super().phase(scope, phase, text, moment=moment)

    def sample(self, scope: str, sample: Sample, *, shows_offsets: bool = True, last: bool = False) -> None:
        """The block shows each; only the last of an arm leaves a line as well."""
        if self._view is None or self._view.arm != scope:
            self._view = ArmView(scope)
        self._view.shows_offsets = shows_offsets
        self._view.add(sample)
        if last:
            super().sample(scope, sample, shows_offsets=shows_offsets, last=True)
        self._draw()

    def close(self) -> None:
        """May be called again; the next `phase` or `sample` begins a new block."""
        if self._live is not None:
            self._unwrap()
            self._live.stop()
        self._live, self._view = None, None

    def _write(self, text: str) -> None:
        self._unwrap()
        self._console.out(text, highlight=False)

    def _draw(self) -> None:
        if self._view is None:
            return
        if self._live is None:
            self._live = Live(
                console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start()
        self._unwrap()
        self._live.update(self._block(self._view), refresh=True)

    def _block(self, view: ArmView) -> Text:
        width, height = self._console.size
        # The last column stays free: a terminal may wrap a line that ends there.
        lines = block_lines(view, width - 1, unicode=not self._console.options.ascii_only)
        self._drawn = lines[: max(0, height - 2)]
        block = Text("\n".join(self._drawn), no_wrap=True, overflow="crop")
        for mark in marks(view):
            if (begin := block.plain.find(mark.text)) >= 0:
                block.stylize(_STYLES[mark.kind], begin, begin + len(mark.text))
        return block

    def _unwrap(self) -> None:
        """A terminal that was made narrower has wrapped the lines, which rich does not know of."""
        more = sum((max(1, cell_len(line)) - 1) // self._console.width for line in self._drawn)
        self._console.control(Control(*[(ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)] * more))
        self._drawn = []
