"""One line that says how far a download is: rewritten on a terminal, a line every quarter elsewhere."""

import sys
import threading
from typing import TextIO

_MB = 1_000_000


class DownloadProgress:
    """Counts bytes of a known total from several threads and writes to ``out`` (default: standard error)."""

    def __init__(self, label: str, total_bytes: int, out: TextIO | None = None) -> None:
        self._label, self._total = label, total_bytes
        self._out = sys.stderr if out is None else out
        self._terminal = self._out.isatty()
        self._lock = threading.Lock()
        self._done = 0
        self._shown = -1
        self.add(0)

    def add(self, size_bytes: int) -> None:
        """Count ``size_bytes`` more; negative when bytes turned out to be of no use."""
        with self._lock:
            self._done += size_bytes
            percent = 100 * self._done // self._total
            step = percent if self._terminal else percent - percent % 25
            if step > self._shown:
                self._shown = step
                self._out.write(self._line(percent) if self._terminal else f"{self._line(percent)}\n")
                self._out.flush()

    def close(self) -> None:
        """End the line of a terminal."""
        if self._terminal:
            self._out.write("\n")
            self._out.flush()

    def _line(self, percent: int) -> str:
        start = "\r" if self._terminal else ""
        return f"{start}{self._label}: {self._done / _MB:.1f} of {self._total / _MB:.1f} MB, {percent} %"
