"""Whatever undoes a fault may find it undone already: by the run, by the guardian, by a person."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from devkit.faults.fault import Context, Fault, Undo
from devkit.faults.journal import Journal, Page
from devkit.faults.parts.kill import Kill
from devkit.faults.parts.pause import Pause
from devkit.faults.parts.restart import Restart
from devkit.faults.programs.stop_process import StopProcess
from devkit.faults.undo import carry_out
from devkit.guardian.run_state import PartPlace, RunState
from tests.unit.devkit.docker.fake_docker import FakeDocker
from tests.unit.devkit.faults.fakes import FakeLife, FakePart, context

pytestmark = pytest.mark.starts_process("the docker command is a script that gives the answers, and one process sleeps")


@pytest.fixture
def process() -> Iterator[psutil.Process]:
    with subprocess.Popen(["sleep", "600"]) as sleeping:
        yield psutil.Process(sleeping.pid)
        sleeping.kill()


def begun(fault: Fault, make: Callable[[Callable[[Undo], None]], Context]) -> Page:
    """The page of a fault that has begun, as it is found when who began it was killed."""
    page = Journal("run1").open("x", fault)
    fault.begin(make(page.plan))
    (page,) = Journal("run1").pages()
    return page


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_process_that_goes_on_or_is_gone(process: psutil.Process, *, is_gone: bool) -> None:
    part = FakePart(life=FakeLife(pid=process.pid))
    pause = begun(Pause(part="kafka"), lambda plan: context(part, plan=plan))
    stop = begun_alone(process)
    if is_gone:
        process.send_signal(signal.SIGKILL)
        process.wait()
    for page in (pause, stop) * 2:
        carry_out(page)
    assert is_gone or process.status() != psutil.STATUS_STOPPED


def begun_alone(process: psutil.Process) -> Page:
    page = Journal("run2").open("x", StopProcess(process="driver"))
    StopProcess(process="driver").begin(Context({}, "", page.plan, processes=lambda _role, _program: [process]))
    return page


def test_a_container_that_goes_on_or_is_gone(tmp_path: Path) -> None:
    fake = FakeDocker(tmp_path)
    page = begun(
        Pause(part="kafka"), lambda plan: context(FakePart(life=FakeLife(pid=None, container="c1")), plan=plan)
    )
    page.entry = page.entry.model_copy(update={"plans": (Undo(data={"container": "c1", "run": "run1"}),)})
    for state in ("paused\n", "running\n", ""):
        access = fake.answer(("ls id=c1", 0, state, ""), ("unpause", 0 if state == "paused\n" else 1, "", "no"))
        RunState(run_id="run1", guardian_pid=1, guardian_started=1, directory=tmp_path, docker=access).save()
        carry_out(page)
    assert [words[2] for words in fake.asked()].count("unpause") == 1


@pytest.mark.parametrize("fault", [Kill(part="kafka"), Restart(part="kafka")])
@pytest.mark.parametrize("is_up", [False, True])
def test_a_part_that_was_started_again_or_is_gone_with_its_run(tmp_path: Path, fault: Fault, *, is_up: bool) -> None:
    page = begun(fault, lambda plan: context(FakePart(), plan=plan))
    assert page.entry.plans[0].data["part"] == "kafka"
    if is_up:
        me = psutil.Process()
        RunState(
            run_id="run1",
            guardian_pid=me.pid,
            guardian_started=me.create_time(),
            directory=tmp_path,
            parts=(PartPlace(name="kafka", address="127.0.0.1:1", pid=me.pid),),
        ).save()
    carry_out(page)
    carry_out(page)
    assert psutil.Process().is_running(), "what lives is not started again"
