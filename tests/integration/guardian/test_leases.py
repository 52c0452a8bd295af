"""A guardian has faults undone: those whose holder is gone, and at the end those that would outlive the run.

The fault is `pause` of a process that is none of the run's, so that what undoes it can be seen.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from devkit.faults.attached_part import attached_parts
from devkit.faults.fault import Context, Undo
from devkit.faults.journal import Journal, Page
from devkit.faults.parts.kill import Kill
from devkit.faults.parts.pause import Pause
from devkit.faults.suspension import process_data
from devkit.guardian import Guardian
from devkit.guardian.cleanup import end_run, heal
from devkit.guardian.lease import LEASE, journal_directory
from devkit.guardian.run_state import PartPlace, known_runs
from devkit.stack.parts.liveness import answers
from devkit.stack.ports import claim_port
from tests.integration.guardian.conftest import SLEEP, await_gone, await_value
from tests.integration.part_server import HTTP

ROOMS = ("devkit/guardian", "devkit/faults")


@pytest.fixture
def stopped() -> Iterator[psutil.Process]:
    """A process of somebody else's that was stopped."""
    with subprocess.Popen(SLEEP) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        yield psutil.Process(process.pid)
        process.kill()


def paused(run_id: str, process: psutil.Process, *, outlives_run: bool = True) -> Page:
    page = Journal(run_id).open("x", Pause(part="kafka"))
    page.plan(Undo(data=process_data(process), outlives_run=outlives_run))
    return page


def goes_on(process: psutil.Process) -> bool:
    return bool(process.status() != psutil.STATUS_STOPPED)


def test_a_fault_is_undone_when_its_lease_is_not_renewed(stopped: psutil.Process) -> None:
    with Guardian() as guardian:
        page = paused(guardian.run_id, stopped, outlives_run=False)
        long_ago = time.time() - LEASE.total_seconds() - 5
        os.utime(page.path, (long_ago, long_ago))
        await_value(lambda: goes_on(stopped), "the guardian to undo it")
        await_value(lambda: not page.path.exists(), "its page to go")
        guardian.require_running()


def test_the_end_of_a_run_undoes_what_outlives_it(stopped: psutil.Process) -> None:
    with Guardian() as guardian:
        paused(guardian.run_id, stopped)
    assert goes_on(stopped)
    assert not journal_directory(guardian.run_id).exists()


RUN = """
import os, psutil, sys, time
from devkit.faults.attached_part import attached_parts
from devkit.faults.fault import Context, Undo
from devkit.faults.journal import Journal
from devkit.faults.parts.pause import Pause
from devkit.faults.suspension import process_data
from devkit.guardian import Guardian
guardian = Guardian()
page = Journal(guardian.run_id).open("x", Pause(part="kafka"))
page.plan(Undo(data=process_data(psutil.Process(int(sys.argv[1]))), outlives_run=True))
print(guardian._process.pid, flush=True)
time.sleep(600)
"""


def start_run(stopped: psutil.Process) -> tuple["subprocess.Popen[str]", psutil.Process]:
    argv = [sys.executable, "-P", "-c", RUN, str(stopped.pid)]
    run = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
    assert run.stdout is not None
    return run, psutil.Process(int(run.stdout.readline()))


def test_sigkill_of_the_command_line_leaves_it_to_the_guardian(stopped: psutil.Process) -> None:
    with start_run(stopped)[0] as run:
        run.kill()
    await_value(lambda: goes_on(stopped), "the guardian to undo it")


def test_sigkill_of_everything_leaves_it_to_heal(stopped: psutil.Process) -> None:
    from devkit.faults.undo import heal_faults

    run, guardian = start_run(stopped)
    with run:
        guardian.kill()
        run.kill()
    await_gone(guardian)
    assert not goes_on(stopped)
    heal()
    (undone,) = heal_faults()
    assert (undone.name, undone.why) == ("x", "")
    assert goes_on(stopped)


SERVER = [sys.executable, "-S", "-c", HTTP.replace('("127.0.0.1", 0)', '("127.0.0.1", int(sys.argv[1]))')]


def test_a_part_of_a_kept_run_is_killed_and_started_again(tmp_path: Path) -> None:
    port = claim_port(None, "a test")
    with Guardian() as guardian:
        server = guardian.spawn("store", [*SERVER, str(port)], logs=tmp_path)
        place = PartPlace(name="store", address=f"http://127.0.0.1:{port}", pid=server.pid)
        guardian.announce({"kafka": "127.0.0.1:1"}, [place])
        guardian.release({})
    (run,) = known_runs()
    try:
        part = attached_parts(run)["store"]
        await_value(lambda: answers(part.address), "the server to answer")
        acting = Kill(part="store").begin(Context({"store": part}, "", lambda _undo: None))
        assert not answers(part.address)
        proof = acting.end()
        assert proof.acted
        assert answers(part.address)
        assert part.life.pid != server.pid
        part.pull("kill")
        Kill.undo(Undo(data={"run_id": run.run_id, "part": "store"}))
        assert answers(part.address)
    finally:
        end_run(run)
        guardian._process.wait()


def test_a_part_of_a_run_with_a_command_line_is_not_killed_by_another() -> None:
    with Guardian() as guardian:
        guardian.announce({"kafka": "127.0.0.1:1"}, [PartPlace(name="store", address="x:1", pid=os.getpid())])
        (run,) = known_runs()
        assert "the command that runs it alone" in str(attached_parts(run)["store"].refusal("kill"))
