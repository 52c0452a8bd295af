import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from devkit.guardian import Guardian
from devkit.guardian.processes import RUN_VARIABLE, is_alive, marked
from devkit.waiting import wait_until
from tests.unit.devkit.guardian.conftest import keep_within

T = TypeVar("T")
SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]

# A daemon as daemons are made: two forks and a session of its own; its pid is in the file when that is there.
# With `stay` the parent goes on as well, else it ends and leaves an orphan.
DAEMON = """
import os, sys, time
file, stay = sys.argv[1:]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(file + ".partial", "w") as out:
            out.write(str(os.getpid()))
        os.rename(file + ".partial", file)
        time.sleep(600)
    os._exit(0)
os.wait()
if stay == "stay":
    time.sleep(600)
"""


def daemon(pid_file: Path, *, stay: bool) -> list[str]:
    return [sys.executable, "-S", "-c", DAEMON, str(pid_file), "stay" if stay else "go"]


def await_daemon(pid_file: Path) -> psutil.Process:
    pid = await_value(lambda: pid_file.read_text() if pid_file.exists() else None, "the daemon's pid")
    return psutil.Process(int(pid))


def await_value(condition: Callable[[], T | None], what: str) -> T:
    return wait_until(condition, what=what, deadline=timedelta(seconds=20), interval=timedelta(milliseconds=5))


def await_gone(*processes: psutil.Process) -> None:
    await_value(lambda: not any(is_alive(process) for process in processes), f"{processes} to be gone")


def of_run(run_id: str) -> list[psutil.Process]:
    return marked(RUN_VARIABLE, run_id)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guardian]:
    """One guardian for the tests that leave it as they found it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        keep_within(tmp_path_factory.mktemp("running"), monkeypatch)
        guardian = Guardian()
    with guardian:
        yield guardian


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Guardians started in a test keep their files within the test's directory."""
    keep_within(tmp_path, monkeypatch)
    return tmp_path
