"""Memory of a process tree over time, by what its processes are: resident (RSS), and with what is shared divided (PSS).

RSS counts pages that workers share once for each, so their sum says too much; PSS divides them. PSS costs the kernel a
walk over the process's memory, so it is looked at less often.
"""

import contextlib
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import psutil

from benchmarks.engine.usage import role_of
from benchmarks.memory.beside import Beside

MIB = 1024 * 1024
Kind = Literal["rss", "pss"]
_PSS_EVERY = 10


@dataclass(frozen=True, slots=True)
class Sample:
    """Bytes of one role at `at_s` since the watch began; `largest` is that of its largest process."""

    at_s: float
    role: str
    kind: Kind
    total: int
    largest: int


class MemoryWatch(Beside):
    """Looks at the trees below `roots` every `interval_s`, in a thread of its own, until it is left."""

    def __init__(self, roots: Sequence[int], *, name: str, interval_s: float) -> None:
        super().__init__("memory")
        self._roots, self._name, self._interval_s = roots, name, interval_s
        self.samples: list[Sample] = []

    def peaks(self) -> dict[str, dict[str, int]]:
        """By role: the most at one moment, in MiB, of all its processes and of the largest; and PSS of all."""
        found: dict[str, dict[str, int]] = defaultdict(lambda: {"rss": 0, "largest_process_rss": 0, "pss": 0})
        for sample in self.samples:
            peaks = found[sample.role]
            peaks[sample.kind] = max(peaks[sample.kind], sample.total // MIB)
            if sample.kind == "rss":
                peaks["largest_process_rss"] = max(peaks["largest_process_rss"], sample.largest // MIB)
        return dict(found)

    def roles(self) -> list[str]:
        return sorted({sample.role for sample in self.samples})

    def _run(self) -> None:
        number = 0
        while not self._stopped.wait(self._interval_s):
            self._look("rss")
            number += 1
            if number % _PSS_EVERY == 0:
                self._look("pss")

    def _look(self, kind: Kind) -> None:
        at_s = time.monotonic() - self._begun
        held: dict[str, list[int]] = defaultdict(list)
        for root in self._roots:
            with contextlib.suppress(psutil.Error):
                tree = psutil.Process(root)
                for process in [tree, *tree.children(recursive=True)]:
                    with contextlib.suppress(psutil.Error, OSError):
                        size = process.memory_info().rss if kind == "rss" else process.memory_full_info().pss
                        held[role_of(self._name, process)].append(size)
        for role, sizes in held.items():
            self.samples.append(Sample(at_s, role, kind, sum(sizes), max(sizes)))
