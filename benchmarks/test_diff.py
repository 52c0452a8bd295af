"""Which library writes the diff: CPU time, how long other threads wait and size of each, on easy and hard documents.

`just bench -k test_diff` runs it. Each pair of library and document has a process of its own. Every diff is applied:
one that does not make the new text of the old one fails.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.engine.peer_environment import PEERS, peer_python
from benchmarks.peers.diff_documents import DOCUMENTS, document
from benchmarks.peers.diff_program import LIBRARIES, LIMIT_S
from benchmarks.results import keep
from devkit.observe.truths.patch import apply_patch

ROOT = Path(__file__).parents[1]


def measured(library: str, before: Path, after: Path) -> dict[str, object]:
    diff = before.with_name("diff")
    command = [str(peer_python("diff")), str(PEERS / "diff_program.py"), library, *map(str, (before, after, diff))]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"longer_than_s": LIMIT_S}
    if done.returncode:
        raise RuntimeError(f"{library}: {done.stderr[-500:]}")
    written = diff.read_bytes().decode()
    if apply_patch(before.read_bytes().decode(), written[written.index("@@ -") :]) != after.read_bytes().decode():
        raise RuntimeError(f"{library}: the diff is wrong")
    figures: dict[str, object] = json.loads(done.stdout)
    return figures


def on_all_documents(directory: Path) -> dict[str, dict[str, dict[str, object]]]:
    figures = {}
    for name in DOCUMENTS:
        paths = directory / "before", directory / "after"
        for path, text in zip(paths, document(name), strict=True):
            path.write_bytes(text)
        figures[name] = {library: measured(library, *paths) for library in LIBRARIES}
    return figures


def test_diff(benchmark: BenchmarkFixture, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = benchmark.pedantic(lambda: on_all_documents(tmp_path))
    keep("diff", {"limit_s": LIMIT_S, "documents": figures}, packages=("pygit2",))
    with capsys.disabled():
        sys.stdout.write(f"\nCPU ms{'':26}" + "".join(f"{library:>22}" for library in LIBRARIES))
        for name, row in figures.items():
            times = (row[library].get("cpu_ms") for library in LIBRARIES)
            shown = (f"over {LIMIT_S} s" if time is None else f"{time:.2f}" for time in times)
            sys.stdout.write(f"\n{name:32}" + "".join(f"{time:>22}" for time in shown))
        sys.stdout.write("\n")
