import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from devkit.faults.journal import Journal
from devkit.faults.network.cut import NetworkCut
from devkit.faults.parts.pause import Pause
from devkit.faults.programs.stop_process import StopProcess
from devkit.faults.refused_fault import RefusedFaults
from devkit.guardian.run_state import PartPlace, ProgramPlace
from tests.unit.devkit.cli.conftest import Devkit, Kept
from tests.unit.devkit.docker.fake_docker import FakeDocker

pytestmark = pytest.mark.starts_process("the docker command is a script that gives the answers, and one program sleeps")


@pytest.fixture
def fake(tmp_path: Path) -> FakeDocker:
    place = tmp_path / "fake-docker"
    place.mkdir()
    return FakeDocker(place)


def test_processes(devkit: Devkit, kept: Kept) -> None:
    me = psutil.Process().pid
    parts = (
        PartPlace(name="kafka", address="127.0.0.1:1", pid=me),
        PartPlace(name="mock-api", address="http://127.0.0.1:2", pid=2**22 + 1),
    )
    kept().model_copy(update={"parts": parts}).save()
    finished = devkit("ps")
    assert finished.code == 3
    assert finished.out.splitlines() == [
        "stack cafe0001 (kept)",
        f"  {'kafka':<14} {f'process {me}':<24} {'running':<14} 127.0.0.1:1",
        f"  {'mock-api':<14} {f'process {2**22 + 1}':<24} {'ended':<14} http://127.0.0.1:2",
    ]


def test_programs_and_a_process_that_stands_still(devkit: Devkit, kept: Kept) -> None:
    me = psutil.Process().pid
    with subprocess.Popen(["sleep", "600"]) as still:
        still.send_signal(signal.SIGSTOP)
        os.waitpid(still.pid, os.WUNTRACED)
        programs = (
            ProgramPlace(name="pipeline", pid=me, log=Path("/logs/pipeline.log")),
            ProgramPlace(name="joiner-1", pid=still.pid, log=Path("/logs/joiner-1.log")),
            ProgramPlace(name="enricher-2", pid=3, log=Path("/logs/enricher-2.log"), exit_code=-9),
        )
        run = kept().model_copy(update={"programs": programs})
        run.save()
        Journal(run.run_id).open("still", StopProcess(process="driver"))
        finished = devkit("ps")
        still.kill()
    assert finished.code == 3
    assert finished.out.splitlines()[1:] == [
        f"  {'pipeline':<14} {f'process {me}':<24} {'running':<14} program, log /logs/pipeline.log",
        f"  {'joiner-1':<14} {f'process {still.pid}':<24} {'stands still':<14} program, log /logs/joiner-1.log",
        f"  {'enricher-2':<14} {'process 3':<24} {'ended (-9)':<14} program, log /logs/enricher-2.log",
    ]


def test_the_log_of_a_program_is_what_it_wrote(devkit: Devkit, kept: Kept, tmp_path: Path) -> None:
    output, log = tmp_path / "pipeline.out", tmp_path / "pipeline.log"
    program = ProgramPlace(name="pipeline", pid=psutil.Process().pid, log=log, output=output)
    kept().model_copy(update={"programs": (program,)}).save()

    def told() -> str:
        return devkit("ps").out.splitlines()[1].split("program, log ")[1]

    assert told() == f"{output} and {log}", "neither is there yet"
    output.write_text('{"event": "started"}\n')
    log.touch()
    assert told() == str(output)
    log.write_text("WARN NativeCodeLoader\n")
    assert told() == f"{output} and {log}"


def test_a_part_that_a_fault_of_the_timeline_holds(devkit: Devkit, kept: Kept) -> None:
    run = kept()
    Journal(run.run_id).open("cut off", NetworkCut(part="kafka"))
    Journal(run.run_id).open("later", Pause(part="kafka"), waits=True)
    (line,) = devkit("ps").out.splitlines()[1:]
    assert line.startswith("  fault          cut off holds kafka (network_cut: {part: kafka}) since ")
    assert line.endswith(", until the arm ends; it is of the scenario's timeline, which ends it")


def test_a_fault_that_was_refused_when_its_time_had_come(devkit: Devkit, kept: Kept, tmp_path: Path) -> None:
    run = kept().model_copy(update={"directory": tmp_path})
    run.save()
    RefusedFaults(run.directory).note("later", Pause(part="kafka"), "it could not begin: it is gone")
    (line,) = devkit("ps").out.splitlines()[1:]
    assert line.startswith("  fault          later (pause: {part: kafka}) was refused at ")
    assert line.endswith(": it could not begin: it is gone; `devkit fault remove later --run-id cafe0001` forgets it")


@pytest.mark.parametrize(("state", "code"), [("running, healthy", 0), ("exited, unhealthy", 3), ("paused", 3)])
def test_containers(devkit: Devkit, kept: Kept, fake: FakeDocker, state: str, code: int) -> None:
    access = fake.answer(("container inspect", 0, f"{state}\n", ""))
    part = PartPlace(name="kafka", address="127.0.0.1:1", container="0123456789abcdef")
    kept().model_copy(update={"parts": (part,), "docker": access}).save()
    finished = devkit("ps")
    assert finished.code == code
    assert f"container 0123456789ab   {state}" in finished.out


def test_an_engine_that_is_gone(devkit: Devkit, kept: Kept, fake: FakeDocker) -> None:
    access = fake.answer(("container", 1, "", "Cannot connect to the Docker daemon at unix:///fake.sock."))
    part = PartPlace(name="kafka", address="127.0.0.1:1", container="abc")
    kept().model_copy(update={"parts": (part,), "docker": access}).save()
    finished = devkit("ps")
    assert finished.code == 3
    assert "no Docker engine answers" in finished.out


def test_what_is_not_ours(devkit: Devkit, kept: Kept) -> None:
    assert (devkit("ps").code, devkit("ps").out) == (0, "no stack is up\n")
    kept().model_copy(update={"parts": (PartPlace(name="kafka", address="k:1"),)}).save()
    finished = devkit("ps")
    assert finished.code == 0
    assert finished.out.splitlines()[1].split() == ["kafka", "not", "ours", "theirs", "k:1"]
