"""Nobody reads what a process prints, or nothing more can be written: its exit code says what it said before."""

import os
import subprocess
import sys

import pytest

from devkit.stack.compose_file import REPOSITORY

ROOMS = ("devkit/cli", "pipeline")

IMPORTS = "from pipeline import log; from pipeline.events import Failed"


def test_when_nobody_reads_the_output_it_is_no_verdict() -> None:
    """`devkit scenario list | true`: click would exit with 1."""
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as output:  # noqa: PTH123 — a descriptor
        finished = subprocess.run(
            [sys.executable, "-m", "devkit.cli.main", "scenario", "list"],
            cwd=REPOSITORY,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (finished.returncode, finished.stderr) == (3, "")


def test_a_reader_that_went_away_changes_no_exit_code() -> None:
    """Neither while the process runs nor when Python writes out what it still holds."""
    reader, writer = os.pipe()
    os.close(reader)
    says = "log.emit(Failed(error='it broke'))"
    program = f"{IMPORTS}; {says}; log.write_stderr('error'); {says}; raise SystemExit(3)"
    try:
        # Without a buffer nothing would be left to be written at the end.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        argv = [sys.executable, "-c", program]
        ended = subprocess.run(argv, stdout=writer, stderr=writer, env=environment, check=False)
    finally:
        os.close(writer)
    assert ended.returncode == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="of Linux")  # noqa: PTH110
def test_a_disk_that_is_full_changes_no_exit_code() -> None:
    """A supervisor that does not restart after 2 would after Python's own 120."""
    program = f"{IMPORTS}; log.emit(Failed(error='it broke')); log.write_stderr('error'); raise SystemExit(2)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:  # noqa: PTH123
        argv = [sys.executable, "-c", program]
        ended = subprocess.run(argv, stdout=full, stderr=full, env=environment, check=False)
    assert ended.returncode == 2


def test_a_terminal_that_nobody_reads_holds_no_thread() -> None:
    """In a process of its own, which can be ended."""
    program = """
import pty
from pipeline.log import LineOutput
with open(pty.openpty()[1], "w") as terminal:
    output = LineOutput(0.0)
    for _ in range(100):
        output.write("x" * 1000, terminal)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0
