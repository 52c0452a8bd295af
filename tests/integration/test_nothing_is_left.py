"""Whatever ends the command line, no process, port or temporary directory of its run stays.

Set-up: `devkit scenario run` on a scenario with a fetch of 40 s. Steps: end the command line at a moment. Checked: all
processes that carried the run's id, Python workers among them, the ports they listened on, the run's directory.
"""

import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from devkit.guardian.processes import RUN_VARIABLE, marked
from devkit.guardian.run_state import state_path
from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun, alive

ROOMS = ("devkit/cli", "devkit/guardian")
SLOW_PAGE = str(Path(__file__).parent / "scenarios" / "slow-page.yaml")
GONE = timedelta(seconds=30)
Cli = Callable[..., CliRun]


def in_flight(run: CliRun) -> bool:
    """A fetch is under way: the mock holds a request back."""
    return any(line["kind"] == "sample" and line["in_flight"] > 0 for line in run.timeline())


def listening(processes: list[psutil.Process]) -> set[tuple[str, int]]:
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in processes
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def listeners(ports: set[int]) -> set[str]:
    """The kernel's numbers of the sockets that listen on these ports. A port by itself tells nothing: a test beside
    this one may have been given it since. Only Linux has them.
    """
    tables = [Path("/proc/net", name) for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
    return {inode for _, local, _, state, _, _, _, _, _, inode, *_ in rows if state == "0A" and _port(local) in ports}


def _port(local: str) -> int:
    return int(local.rpartition(":")[2], 16)


def assert_nothing_is_left(run: CliRun, run_id: str, directory: Path, processes: list[psutil.Process]) -> None:
    wait_until(lambda: not alive(processes), what=f"processes {processes} to be gone", deadline=GONE)
    wait_until(lambda: not marked(RUN_VARIABLE, run_id), what="no process to carry the run's id", deadline=GONE)
    wait_until(lambda: not directory.exists(), what=f"{directory} to be removed", deadline=GONE)
    wait_until(lambda: not state_path(run_id).exists(), what="the state file to be removed", deadline=GONE)


def test_sigkill_in_the_middle_of_a_slow_fetch(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", SLOW_PAGE, "--unchecked")
    run_id, directory = run.run_id(), run.directory()
    run.await_condition(lambda: in_flight(run), "a fetch to be under way")
    processes = run.processes()
    commands = [" ".join(process.cmdline()) for process in processes]
    for part in (
        "devkit.guardian",
        "kafka.Kafka",
        "moto_store",
        "mockapi",
        "pipeline run",
        "SparkSubmit",
        "pyspark.worker",
    ):
        assert any(part in command for command in commands), f"{part} is not among {commands}"
    workers = [command for command in commands if "pyspark.worker" in command]
    assert len(workers) >= 2, f"a daemon and at least one worker: {commands}"
    ports = listening(processes)
    assert len(ports) >= 4
    assert {address for address, _ in ports} <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}

    numbers = {port for _, port in ports}
    sockets = listeners(numbers)
    assert len(sockets) >= len(numbers) or sys.platform != "linux"

    run.process.kill()

    assert_nothing_is_left(run, run_id, directory, processes)
    # A process of many threads counts as ended when its first one has; the kernel closes its sockets behind the last.
    wait_until(lambda: not sockets & listeners(numbers), what="the sockets to be closed", deadline=GONE)


# Between the first and the last nothing begins that the last one does not have.
_BETWEEN = [pytest.param(moment, marks=pytest.mark.slow) for moment in ("address", "phase")]


@pytest.mark.parametrize("moment", ["guardian", *_BETWEEN, "started"])
def test_sigkill_on_the_way_up(devkit_cli: Cli, moment: str) -> None:
    run = devkit_cli("scenario", "run", SLOW_PAGE, "--unchecked")
    run.await_event(moment)
    run_id, directory, processes = run.run_id(), run.directory(), run.processes()
    assert processes
    run.process.kill()
    assert_nothing_is_left(run, run_id, directory, processes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_ends_in_order_with_130(devkit_cli: Cli, number: signal.Signals) -> None:
    run = devkit_cli("scenario", "run", SLOW_PAGE, "--unchecked")
    run.await_event("process_started")
    run_id, directory, processes = run.run_id(), run.directory(), run.processes()
    run.process.send_signal(number)
    assert run.wait(60) == 130
    assert "interrupted" in run.output()
    assert_nothing_is_left(run, run_id, directory, processes)


def test_a_broker_that_dies_is_named(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", SLOW_PAGE, "--unchecked")
    run.await_event("process_started")
    run_id, directory, processes = run.run_id(), run.directory(), run.processes()
    broker = next(process for process in processes if "kafka.Kafka" in process.cmdline())
    broker.kill()
    assert run.wait(60) == 3
    assert "kafka ended by signal 9" in run.output()
    assert_nothing_is_left(run, run_id, directory, processes)
