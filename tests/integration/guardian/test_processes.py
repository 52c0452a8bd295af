import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import psutil
import pytest

from devkit.guardian.processes import birth, descendants, is_alive, kill_until_gone, marked
from tests.integration.guardian.conftest import SLEEP, await_value
from tests.unit.devkit.guardian.test_run_state import a_run

ROOMS = ("devkit/guardian",)

MARK = "DEVKIT_TEST_MARK"
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def spawn(mark: str | None = None, argv: list[str] = SLEEP) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(argv, env=os.environ | ({MARK: mark} if mark else {}))
        started.append(process)
        if mark:
            # For a moment after its start a process shows no environment.
            await_value(lambda: process.pid in pids(marked(MARK, mark)), "the process to show its mark")
        return process

    yield spawn
    for process in started:
        process.kill()
        process.wait()


def pids(processes: list[psutil.Process]) -> set[int]:
    return {process.pid for process in processes}


def test_marked_finds_by_the_value_in_the_environment(start: Start) -> None:
    ours, others, plain = start(f"{os.getpid()}-a"), start(f"{os.getpid()}-ab"), start()
    assert pids(marked(MARK, f"{os.getpid()}-a")) == {ours.pid}
    assert pids(marked(MARK, f"{os.getpid()}-ab")) == {others.pid}
    assert plain.pid not in pids(marked(MARK, ""))


def test_marked_leaves_this_process_out() -> None:
    """Seen from inside a marked process: it would else end itself."""
    program = f"import os; from devkit.guardian.processes import marked; print(marked({MARK!r}, os.environ[{MARK!r}]))"
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {MARK: f"{os.getpid()}-self"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "[]\n"


def test_the_dead_are_not_alive_whether_waited_for_or_not(start: Start) -> None:
    process = start(f"{os.getpid()}-z")
    seen = psutil.Process(process.pid)
    assert is_alive(seen)
    process.kill()
    await_value(lambda: seen.status() == psutil.STATUS_ZOMBIE, "the process to be a zombie")
    assert not is_alive(seen)
    assert marked(MARK, f"{os.getpid()}-z") == []
    assert process.pid not in pids(descendants())
    process.wait()
    assert not is_alive(seen)


def test_descendants_are_those_below_this_process(start: Start) -> None:
    process = start()
    assert process.pid in pids(descendants())
    assert os.getpid() not in pids(descendants())


def test_kill_until_gone_ends_them_all_and_leaves_their_exit_codes_to_others(start: Start) -> None:
    started = [start(f"{os.getpid()}-k") for _ in range(3)]
    assert kill_until_gone(lambda: marked(MARK, f"{os.getpid()}-k"), reap=lambda: None) == []
    assert [process.wait(0) for process in started] == [-signal.SIGKILL] * 3


def test_kill_until_gone_looks_again_as_the_dying_may_fork(start: Start) -> None:
    first, second = start(), start()
    generations = iter([[psutil.Process(first.pid)], [psutil.Process(second.pid)], []])
    assert kill_until_gone(lambda: next(generations), reap=lambda: None) == []
    assert [first.wait(0), second.wait(0)] == [-signal.SIGKILL] * 2


def test_kill_until_gone_gives_up_at_its_deadline(start: Start) -> None:
    class Undying(psutil.Process):
        def kill(self) -> None:
            """As if in uninterruptible sleep."""

    victim = Undying(start().pid)
    assert kill_until_gone(lambda: [victim], reap=lambda: None, deadline_s=0.0) == [victim]


def test_nothing_to_kill_is_done_at_once() -> None:
    assert kill_until_gone(list, reap=lambda: pytest.fail("nothing was killed")) == []


def test_the_birth_of_a_process_is_its_own() -> None:
    with subprocess.Popen(SLEEP) as process:
        try:
            assert birth(process.pid) != birth(os.getpid())
        finally:
            process.kill()


def test_a_process_that_is_gone_has_no_birth() -> None:
    with subprocess.Popen(SLEEP) as process:
        process.kill()
    with pytest.raises(psutil.NoSuchProcess):
        birth(process.pid)


def test_the_guardian_of_a_run_is_not_alive_once_it_is_dead_whether_waited_for_or_not() -> None:
    process = subprocess.Popen(SLEEP)
    seen = psutil.Process(process.pid)
    run = a_run(guardian_pid=process.pid, guardian_birth=birth(process.pid))
    assert run.guardian_is_alive()
    process.kill()
    await_value(lambda: seen.status() == psutil.STATUS_ZOMBIE, "the process to be a zombie")
    assert not run.guardian_is_alive()
    process.wait()
    assert not run.guardian_is_alive()
