"""The compose stack: the same verdict from the same file, and nothing left of any container, however a run ends."""

import os
import random
import signal
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from devkit.docker.access import RUN_LABEL
from devkit.guardian.run_state import known_runs, state_path
from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun
from tests.integration.docker.conftest import Docker

ROOMS = ("devkit/docker", "devkit/guardian", "devkit/stack", "deploy")
GONE = timedelta(seconds=90)
Cli = Callable[..., CliRun]


def of_run(docker: Docker, run_id: str) -> list[str]:
    """Ids of containers, networks and volumes."""
    label = f"label={RUN_LABEL}={run_id}"
    kinds = (("ps", "-a"), ("network", "ls"), ("volume", "ls"))
    return [one for kind in kinds for one in docker(*kind, "-q", "--filter", label).split()]


def assert_nothing_is_left(docker: Docker, run: CliRun, run_id: str) -> None:
    wait_until(lambda: not run.processes(), what="the run's processes to be gone", deadline=GONE)
    wait_until(lambda: not state_path(run_id).exists(), what="the state file to be removed", deadline=GONE)
    assert of_run(docker, run_id) == []


# Minutes. The test after it brings the same containers up.
@pytest.mark.slow
def test_a_scenario_has_the_same_verdict_as_on_the_embedded_stack(devkit_cli: Cli, docker: Docker) -> None:
    run = devkit_cli("scenario", "run", "oversized-message", "--stack", "compose")
    run_id = run.run_id()
    assert run.wait() == 0, run.output()
    assert "REPRODUCED AND FIXED" in run.output()
    assert of_run(docker, run_id) == []
    logs = {path.name for path in run.out.glob("oversized-message/*/stack/*.log")}
    assert logs >= {"kafka.log", "object-store.log", "mock-api.log"}


def test_sigkill_while_containers_are_made(devkit_cli: Cli, docker: Docker) -> None:
    run = devkit_cli("scenario", "run", "oversized-message", "--stack", "compose")
    run_id = run.run_id()
    # Where it is the first to need the mock's image, that is built before.
    run.await_condition(lambda: of_run(docker, run_id), "the first of the run to be there", deadline_s=600)
    run.process.kill()
    assert_nothing_is_left(docker, run, run_id)


@pytest.mark.slow
def test_a_broker_that_dies_is_named(devkit_cli: Cli, docker: Docker) -> None:
    run = devkit_cli("scenario", "run", "oversized-message", "--stack", "compose")
    run_id = run.run_id()
    run.await_event("process_started")
    (broker,) = docker("ps", "-q", "--filter", f"name=devkit-{run_id}-kafka").split()
    docker("kill", broker)
    assert run.wait(90) == 3
    assert "error: kafka ended with exit code 137" in run.output()
    assert_nothing_is_left(docker, run, run_id)


@pytest.mark.slow
def test_heal_removes_what_a_killed_guardian_left(devkit_cli: Cli, docker: Docker) -> None:
    run = devkit_cli("up", "--stack", "compose", "--no-pipeline")
    assert run.wait(120) == 0, run.output()
    (state,) = [one for one in known_runs() if f"stack {one.run_id} stays up" in run.output()]
    assert len(of_run(docker, state.run_id)) == 6  # three containers, a network, two volumes
    os.kill(state.guardian_pid, signal.SIGKILL)
    wait_until(lambda: not state.guardian_is_alive(), what="the guardian to be gone", deadline=GONE)
    assert of_run(docker, state.run_id)

    healed = devkit_cli("heal", out=False)

    assert healed.wait(120) == 0, healed.output()
    assert f"ended what was left of run {state.run_id}" in healed.output()
    assert of_run(docker, state.run_id) == []
    assert state.run_id not in {one.run_id for one in known_runs()}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_sigkill_at_random_moments(devkit_cli: Cli, docker: Docker, number: int) -> None:
    """Within the time that a start and the beginning of the first arm take; the seed is the test's number."""
    run = devkit_cli("scenario", "run", "oversized-message", "--stack", "compose")
    run_id = run.run_id()
    moment = time.monotonic() + random.Random(number).uniform(0, 15)
    run.await_condition(lambda: time.monotonic() > moment, "the moment to come")
    run.process.kill()
    assert_nothing_is_left(docker, run, run_id)
