"""What the kit reads of real processes: command line, memory, hosts file, and the lines of the probe."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from devkit.container.memory import MEASURE, tree_memory
from devkit.headroom.probe import BURST
from devkit.headroom.reading import ProbeReading
from devkit.programs.hosts_file import HostsFile, refusal_of_hosts_file
from devkit.programs.process_start import ProcessStart, read_process_start
from devkit.stack.compose_file import REPOSITORY

ROOMS = ("devkit/container", "devkit/headroom", "devkit/programs")

MIB = 1 << 20
HOLDS_64_MIB = "import sys; kept = b'x' * (64 << 20); print('ready', flush=True); sys.stdin.read()"
WAITS = (sys.executable, "-c", "print(flush=True); input()", "--at", "5 s")


def test_a_process_shows_its_command_line_and_the_variables_that_are_asked_for() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(WAITS, env={**os.environ, "MODE": "x"}, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), "it runs"
        start = read_process_start(process.pid, ("MODE", "ABSENT"))
        process.kill()
    assert start == ProcessStart({"MODE": "x"}, WAITS)


def test_one_that_its_prefix_still_begins_shows_nothing_yet() -> None:
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), "it runs"
        starts = [read_process_start(process.pid, (), prefix) for prefix in (WAITS[:2], ("another",))]
        process.kill()
    assert [start is None for start in starts] == [True, False]


def test_one_that_has_ended_shows_nothing() -> None:
    with subprocess.Popen(("true",)) as process:
        process.wait()
        assert read_process_start(process.pid, ()) is None


def test_a_program_has_the_file_and_the_machine_has_not(tmp_path: Path) -> None:
    if why := refusal_of_hosts_file():
        pytest.skip(why)
    hosts = HostsFile.write(tmp_path, ["mock-api"])
    text = "import os, socket; print(os.getpid(), os.getuid(), socket.gethostbyname('mock-api.devkit.test'))"
    with subprocess.Popen([*hosts.prefix, sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as process:
        shown = process.communicate()[0].split()
    uid = str(Path("/proc/self").stat().st_uid)
    assert shown == [str(process.pid), uid, "127.0.0.1"]
    assert "devkit.test" not in Path("/etc/hosts").read_text()


@pytest.fixture
def holder() -> Iterator[psutil.Process]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_64_MIB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with process:
        yield psutil.Process(process.pid)
        process.kill()


def test_a_process_is_as_large_as_what_it_holds(holder: psutil.Process) -> None:
    memory = tree_memory([holder], holder.pid)
    assert [(row.pid, row.kind) for row in memory.rows] == [(holder.pid, "driver")]
    assert 64 * MIB < memory.total < 128 * MIB
    assert memory.measure == MEASURE


def test_one_that_has_ended_is_left_out(holder: psutil.Process) -> None:
    holder.kill()
    holder.wait()
    assert tree_memory([holder], holder.pid).rows == ()


@pytest.mark.skipif(sys.platform != "linux", reason="proportional memory is Linux's")
def test_what_two_processes_share_counts_once() -> None:
    """A fork shares its parent's pages: together they hold little more than the parent alone."""
    shared = 64 * MIB
    forks = (
        f"import os, sys; kept = b'x' * {shared}; child = os.fork(); child and print(child, flush=True); "
        "sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", forks], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        processes = [psutil.Process(parent.pid), psutil.Process(child)]
        both = tree_memory(processes, parent.pid)
        resident = sum(process.memory_info().rss for process in processes)
    assert len(both.rows) == 2
    assert both.total < resident - shared // 2


def test_the_probe_writes_what_the_kit_reads() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "devkit.headroom.probe"], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    )
    assert process.stdout is not None
    with process, process.stdout:
        readings = [ProbeReading.model_validate_json(process.stdout.readline()) for _ in range(BURST + 2)]
        process.kill()
    assert [reading.paced for reading in readings] == [False] * BURST + [True] * 2
    assert all(reading.due_s < reading.done_s and reading.core_s > 0 for reading in readings)
    assert sorted(reading.done_s for reading in readings) == [reading.done_s for reading in readings]
