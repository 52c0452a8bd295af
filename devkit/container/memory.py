"""How much memory a tree of processes takes, by process and kind.

On Linux a process's *proportional* set size: a page that n processes share counts 1/n in each, so a sum over processes
is what a container would be charged for them (the page cache of files left out). Elsewhere the resident set size,
in which a shared page counts in each process; what is measured says which.
"""

import contextlib
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import psutil
from pydantic import BaseModel, ConfigDict

from devkit.container.process_kind import process_kind
from located_config.count import counted

Measure = Literal["proportional", "resident"]
Kind = Literal["driver", "JVM heap", "JVM besides the heap", "Python daemon", "Python worker", "other"]

MEASURE: Measure = "proportional" if sys.platform == "linux" else "resident"

_ROLLUP = re.compile(rb"^Pss: +(\d+) kB$", re.MULTILINE)
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ (\d+)\s*(.*)")
# With compressed pointers, which HotSpot uses for heaps below 32 GiB, the heap lies below this address, and next to
# nothing else of a JVM that is anonymous does.
_HEAP_BELOW = 32 << 30


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KindMemory(_Model):
    """Bytes of one kind in one process."""

    pid: int
    kind: Kind
    size: int


class TreeMemory(_Model):
    """The memory of a process tree in one sample."""

    rows: tuple[KindMemory, ...]
    measure: Measure = MEASURE

    @property
    def total(self) -> int:
        """In bytes. `measure` says how a page that several processes share counts in it."""
        return sum(row.size for row in self.rows)


def tree_memory(processes: Iterable[psutil.Process], root: int) -> TreeMemory:
    """The memory of the processes now, each JVM without a split; those that end meanwhile are left out."""
    rows = []
    for process in processes:
        with contextlib.suppress(psutil.Error, OSError):
            kind = process_kind(process, root)
            row_kind: Kind = "JVM besides the heap" if kind == "JVM" else kind
            rows.append(KindMemory(pid=process.pid, kind=row_kind, size=_size(process)))
    return TreeMemory(rows=tuple(rows))


def split(memory: TreeMemory) -> TreeMemory:
    """The same, with each JVM divided into heap and rest where the system shows them; it costs more than a sample."""
    return TreeMemory(rows=tuple(part for row in memory.rows for part in _parts(row)), measure=memory.measure)


def describe(memory: TreeMemory) -> str:
    """The kinds with their sums, largest first: `JVM heap 1200MiB, 4 Python workers 800MiB`."""
    by_kind: dict[Kind, list[int]] = {}
    for row in memory.rows:
        by_kind.setdefault(row.kind, []).append(row.size)
    ordered = sorted(by_kind.items(), key=lambda item: -sum(item[1]))
    return ", ".join(f"{_named(kind, sizes)} {_mib(sum(sizes))}MiB" for kind, sizes in ordered)


def _named(kind: Kind, sizes: Sequence[int]) -> str:
    return counted(len(sizes), kind) if kind == "Python worker" and len(sizes) > 1 else kind


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.0f}"


def _size(process: psutil.Process) -> int:
    if MEASURE == "resident":
        return int(process.memory_info().rss)
    try:
        match = _ROLLUP.search(Path(f"/proc/{process.pid}/smaps_rollup").read_bytes())
    except (FileNotFoundError, ProcessLookupError) as error:
        raise psutil.NoSuchProcess(process.pid) from error
    return int(match[1]) * 1024 if match else 0  # a process that is ending has no memory any more


def _parts(row: KindMemory) -> Iterable[KindMemory]:
    heap = heap_size(_mappings(row.pid)) if row.kind == "JVM besides the heap" else 0
    if not heap:
        return (row,)
    # The process has gone on between the two looks.
    return (
        KindMemory(pid=row.pid, kind="JVM heap", size=heap),
        KindMemory(pid=row.pid, kind=row.kind, size=max(0, row.size - heap)),
    )


def _mappings(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/smaps").read_text(errors="replace")
    return ""


def heap_size(smaps: str) -> int:
    """The proportional bytes of a JVM's heap, from what Linux says of its mappings; 0 where that does not show it."""
    total, inside = 0, False
    for line in smaps.splitlines():
        if match := _MAPPING.match(line):
            begin, _, permissions, inode, _ = match.groups()
            inside = int(begin, 16) < _HEAP_BELOW and inode == "0" and permissions.startswith("rw")
        elif inside and line.startswith("Pss:"):
            total += int(line.split()[1]) * 1024
    return total
