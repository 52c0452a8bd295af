"""Processes that faults act on, and journals that stay within the test's directory."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

WAITS = "import sys; print('up', flush=True); sys.stdin.read()"
Spawn = Callable[..., psutil.Process]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DEVKIT_STATE", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Starts Python programs that say when they run."""
    started: list[subprocess.Popen[str]] = []

    def start(program: str = WAITS) -> psutil.Process:
        argv = [sys.executable, "-c", program]
        started.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        assert started[-1].stdout is not None
        assert started[-1].stdout.readline() == "up\n"
        return psutil.Process(started[-1].pid)

    yield start
    for process in started:
        process.kill()
        process.communicate()
