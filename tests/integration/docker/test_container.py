"""A program whose memory the engine limits: `container:` of a scenario on the compose stack.

The pipeline runs in a container of its own. With too little memory the kernel kills it, and the engine says so; with
enough it does what it does elsewhere.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli_run import CliRun
from tests.integration.docker.conftest import Docker
from tests.integration.docker.test_compose import assert_nothing_is_left, of_run

ROOMS = ("devkit/container", "devkit/docker", "devkit/programs")
SCENARIO = Path(__file__).parents[1] / "scenarios" / "small-container.yaml"
MIB = 1 << 20

pytestmark = pytest.mark.slow
Cli = Callable[..., CliRun]


def arm(run: CliRun, name: str) -> dict[str, Any]:
    file = run.evidence / "result.json"
    found: dict[str, Any] = json.loads(file.read_text())["arms"][name]
    return found


def test_over_its_memory_a_program_is_killed_by_the_engine(devkit_cli: Cli, docker: Docker) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIO), "--unchecked", "--stack", "compose", "--arm", "incident")
    # No fault was injected, so there is no verdict; what happened to the arm is known all the same.
    assert run.wait(1200) == 3, run.output()
    kills = arm(run, "incident")["figures"]["container"]["kills"]
    assert {kill["enforced_by"] for kill in kills} == {"engine"}
    assert {kill["allowed"] for kill in kills} == {250 * MIB}
    assert {row["kind"] for row in kills[0]["memory"]["rows"]} & {"JVM heap", "JVM besides the heap"}
    assert "the engine had a process of it killed" in " ".join(run.output().split())
    ended = run.event("process_ended")
    assert ended is not None
    assert ended["exit_code"] > 0
    assert run.event("process_restarted") is not None
    assert of_run(docker, run.run_id()) == []


@pytest.fixture
def ample(tmp_path: Path) -> str:
    """The same with enough memory."""
    ample = tmp_path / "ample.yaml"
    ample.write_text(
        SCENARIO.read_text()
        .replace("memory: 250MiB", "memory: 2GiB")
        .replace("any: [{ restarts: 1 }]", "any: [{ drained: true }]")
        .replace(
            "fixed: [{ container_kills: 0 }]", "fixed: [{ container_kills: 0 }, { drained: true }, { audit: clean }]"
        )
    )
    return str(ample)


def test_with_enough_memory_it_does_what_it_does_elsewhere(devkit_cli: Cli, docker: Docker, ample: str) -> None:
    run = devkit_cli("scenario", "run", ample, "--unchecked", "--stack", "compose", "--arm", "fixed")
    run_id = run.run_id()
    run.await_event("process_started", deadline_s=1200)
    (container,) = docker("ps", "-q", "--no-trunc", "--filter", f"name=devkit-{run_id}-pipeline").split()
    limits = docker("inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}}", container)
    assert limits.split() == [str(2 << 30), str(2 << 30)]
    run.wait(600)
    fixed = arm(run, "fixed")
    assert [one["holds"] for one in fixed["expectations"]] == [True, True, True], run.output()
    # Its processes are seen from outside, the docker command is none of them.
    assert fixed["figures"]["container"]["peak_memory"] > 200 * MIB
    assert of_run(docker, run_id) == []


@pytest.mark.parametrize("role", ["driver", "executor"])
def test_its_processes_are_reached_through_the_container(
    devkit_cli: Cli, docker: Docker, ample: str, role: str
) -> None:
    file = Path(ample)
    dies = f"{{ name: death, do: {{ kill_process: {{ process: {role} }} }}, when: program running }}"
    file.write_text(file.read_text().replace("{ drained: true }], d", "{ restarts: 1 }], d") + f"timeline: [{dies}]\n")
    run = devkit_cli("scenario", "run", ample, "--unchecked", "--stack", "compose", "--arm", "fixed")
    run.wait(600)
    fault = run.event("fault_ends")
    assert fault is not None, run.output()
    assert fault["acted"], fault
    assert f"SIGKILL to {role}" in fault["did"]
    ended = run.event("process_ended")
    assert ended is not None
    # Of a container whose first process is killed nothing is left; one that loses another ends by itself.
    assert (ended["exit_code"] == 137) == (role == "driver")
    assert run.event("process_restarted") is not None
    assert arm(run, "fixed")["figures"]["container"]["kills"] == []
    assert of_run(docker, run.run_id()) == []


def test_killed_with_the_kit_nothing_of_it_is_left(devkit_cli: Cli, docker: Docker, ample: str) -> None:
    run = devkit_cli("scenario", "run", ample, "--unchecked", "--stack", "compose", "--arm", "fixed")
    run_id = run.run_id()
    run.await_event("process_started", deadline_s=1200)
    assert docker("ps", "-q", "--filter", f"name=devkit-{run_id}-pipeline")
    run.process.kill()
    assert_nothing_is_left(docker, run, run_id)
