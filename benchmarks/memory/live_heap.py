"""What a JVM keeps: the objects that survive a full collection, counted by the JVM itself when it is asked.

Its resident memory says less. The old part of a heap is touched page by page as what lived a little longer gathers
there, and with this traffic an hour passes before it is collected for the first time.
"""

import contextlib
import re
import signal
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import psutil

from benchmarks.memory.beside import Beside
from benchmarks.memory.watch import MIB
from devkit.errors import DevkitError
from devkit.waiting import wait_until

JVM_OPTION = "-XX:+PrintClassHistogram"
"""Has the JVM collect its garbage and print what is left on SIGQUIT."""

_ROW = re.compile(r"^ *\d+: +\d+ +(?P<bytes>\d+) +(?P<name>\S+)|^Total +\d+ +(?P<total>\d+)", re.MULTILINE)
_ANSWER, _BETWEEN = timedelta(seconds=60), timedelta(seconds=0.5)
# Stands where nothing is, so that the heap can be walked.
_FILLER = "[Ljdk.internal.vm.FillerElement;"


def live_bytes(printed: str) -> list[int]:
    """Of each whole histogram in a JVM's output, in its order."""
    found, filler = [], 0
    for row in _ROW.finditer(printed):
        if row["total"] is not None:
            found.append(int(row["total"]) - filler)
            filler = 0
        elif row["name"] == _FILLER:
            filler += int(row["bytes"])
    return found


class LiveHeap(Beside):
    """Asks the JVM below `root` at moments, seconds from entering on; `output` is where it prints."""

    def __init__(self, root: int, output: Path, moments_s: Sequence[float]) -> None:
        super().__init__("live-heap")
        self._root, self._output, self._moments_s = root, output, moments_s
        self.samples: list[tuple[float, int]] = []
        """Seconds, and bytes. A moment at which the JVM gave no answer is missing."""

    def mib(self) -> list[tuple[float, float]]:
        """Minutes, and MiB."""
        return [(round(at_s / 60, 1), round(held / MIB, 1)) for at_s, held in self.samples]

    def _run(self) -> None:
        for moment_s in self._moments_s:
            if self._stopped.wait(max(0.0, self._begun + moment_s - time.monotonic())):
                return
            with contextlib.suppress(psutil.Error, OSError, DevkitError):
                self.samples.append((moment_s, self._ask()))

    def _ask(self) -> int:
        before = self._printed()
        for process in psutil.Process(self._root).children(recursive=True):
            if process.name() == "java":
                process.send_signal(signal.SIGQUIT)
        return wait_until(
            lambda: printed[-1] if len(printed := self._printed()) > len(before) else None,
            what="the JVM to say what it keeps",
            deadline=_ANSWER,
            interval=_BETWEEN,
        )

    def _printed(self) -> list[int]:
        return live_bytes(self._output.read_text(errors="replace"))
