"""One library on one document: `diff_program.py LIBRARY BEFORE AFTER DIFF`, where all of them are installed.

Reads both texts from the files named, writes the diff, prints what it took as JSON. Each gets bytes, as they come from
the network, and gives bytes: what it costs to make lines of them is its own. It may have `LIMIT_S` of CPU time; then
the system ends it, with SIGXCPU.
"""

import difflib
import json
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

LIMIT_S = 5
_MEASURED_S = 0.5
_TICK_S = 0.001


def _ours(before: bytes, after: bytes) -> bytes:
    from pipeline.records.diff import unified_diff_of_bytes

    return unified_diff_of_bytes(before, after, before_name="a", after_name="b")


def _pygit2(before: bytes, after: bytes) -> bytes:
    import pygit2
    from pygit2.enums import DiffOption

    return bytes(pygit2.Patch.create_from(before, after, flag=DiffOption.FORCE_TEXT, context_lines=3).data)


def _imarapy(before: bytes, after: bytes) -> bytes:
    """It finds the blocks only: hunks are written as briefly as can be, without context."""
    import imarapy

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    parts = [b"--- a\n+++ b\n"]
    for delta in imarapy.diff(old, new):
        gone, come = delta.source, delta.target
        old_at, new_at = gone.position + bool(gone.lines), come.position + bool(come.lines)
        parts.append(b"@@ -%d,%d +%d,%d @@\n" % (old_at, len(gone.lines), new_at, len(come.lines)))
        parts += [b"-" + line for line in gone.lines]
        parts += [b"+" + line for line in come.lines]
    return b"".join(parts)


def _like_difflib(name: str) -> Callable[[bytes, bytes], bytes]:
    def unified_diff(before: bytes, after: bytes) -> bytes:
        module: ModuleType = __import__(name)
        old, new = before.decode().splitlines(keepends=True), after.decode().splitlines(keepends=True)
        return "".join(module.unified_diff(old, new, "a", "b")).encode()

    return unified_diff


LIBRARIES: dict[str, Callable[[bytes, bytes], bytes]] = {
    "pipeline.records.diff": _ours,
    "pygit2": _pygit2,
    "imarapy": _imarapy,
    "patiencediff": _like_difflib("patiencediff"),
    "cydifflib": _like_difflib("cydifflib"),
    "difflib-rs": _like_difflib("difflib_rs"),
    difflib.__name__: _like_difflib("difflib"),
}


class _Ticks(threading.Thread):
    """What an event loop in another thread would see: the longest time that it could not run."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest_s = 0.0
        self._over = threading.Event()

    def run(self) -> None:
        last = time.perf_counter()
        while not self._over.wait(_TICK_S):
            now = time.perf_counter()
            self.longest_s, last = max(self.longest_s, now - last), now

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def __enter__(self) -> "_Ticks":
        self.start()
        return self


def measure(diff: Callable[[bytes, bytes], bytes], before: bytes, after: bytes) -> tuple[bytes, dict[str, float]]:
    written = diff(b"old\n", b"new\n")  # imports
    cpu_s: list[float] = []
    with _Ticks() as ticks:
        while sum(cpu_s) < _MEASURED_S and len(cpu_s) < 1_000:
            began = time.thread_time()
            written = diff(before, after)
            cpu_s.append(time.thread_time() - began)
    return written, {"cpu_ms": 1e3 * min(cpu_s), "others_waited_ms": 1e3 * ticks.longest_s, "rounds": len(cpu_s)}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    library, *places = sys.argv[1:]
    before_path, after_path, diff_path = map(Path, places)
    result, figures = measure(LIBRARIES[library], before_path.read_bytes(), after_path.read_bytes())
    diff_path.write_bytes(result)
    sys.stdout.write(json.dumps({**figures, "diff_bytes": len(result)}))
