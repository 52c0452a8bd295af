"""The levers of a part that is a process, with processes that do what the test says."""

import signal
from pathlib import Path

import pytest

from devkit.errors import StackError, UsageError, WaitTimeoutError
from devkit.stack.parts import process
from devkit.stack.parts.data_directory import DataDirectory, KeptData
from devkit.stack.parts.part import LEVERS, NOT_COPIED, Lever
from devkit.stack.parts.part_life import Life, require_running
from devkit.stack.parts.process import ProcessPart
from tests.unit.devkit.stack.fakes import FakeGuardian, FakeProcess

ARGV = ["store", "--port", "1"]


class Desk:
    """A part of which the test decides everything; `asked` are the process ids that were waited for."""

    def __init__(self, directory: Path, data: KeptData | None = None, **refused: str) -> None:
        self.guardian = FakeGuardian(directory)
        self.stopped = True
        self.asked: list[int | None] = []
        self.restored = 0
        self.part = ProcessPart(
            self.guardian.real(),
            "store",
            ARGV,
            address="http://127.0.0.1:1",
            ready=self.ready,
            restore=self.restore,
            logs=directory,
            env={"KEY": "1"},
            split=True,
            refused=refused,  # type: ignore[arg-type]
            is_stopped=lambda _: self.stopped,
            data=data,
        )
        self.process = self.guardian.processes[0]

    def ready(self, life: Life) -> None:
        require_running(life)
        self.asked.append(life.pid)

    def restore(self) -> None:
        self.restored += 1


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_paused_part_has_stopped(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.part.pull("pause")
    assert desk.process.signals == [signal.SIGSTOP]
    monkeypatch.setattr(process, "_STOPPING", process._STOPPING * 0)
    desk.stopped = False
    with pytest.raises(WaitTimeoutError, match="for store to stop"):
        desk.part.pull("pause")


def test_a_resumed_part_answers(desk: Desk) -> None:
    desk.part.pull("resume")
    assert (desk.process.signals, desk.asked, desk.restored) == ([signal.SIGCONT], [desk.process.pid], 0)


@pytest.mark.parametrize("lever", ["pause", "resume"])
def test_a_dead_part_can_be_neither_paused_nor_resumed(desk: Desk, lever: Lever) -> None:
    desk.process.exit_code = 1
    with pytest.raises(StackError, match=r"^store ended with exit code 1"):
        desk.part.pull(lever)


def test_a_killed_part_is_gone_and_stays_so(desk: Desk) -> None:
    desk.process.ends_by = signal.SIGKILL
    desk.part.pull("kill")
    assert desk.part.life.exit_code == -signal.SIGKILL
    assert len(desk.guardian.started) == 1
    desk.part.pull("kill")


def test_a_restarted_part_is_ended_in_order_and_started_the_same_way(desk: Desk) -> None:
    desk.process.ends_by = signal.SIGTERM
    before = desk.part.life
    desk.part.pull("restart")
    assert before.exit_code == -signal.SIGTERM
    assert desk.guardian.started == [("store", ARGV, {"KEY": "1"})] * 2
    assert desk.guardian.succeeded == [before.pid]
    assert desk.part.life.pid != before.pid
    assert (desk.asked, desk.restored) == ([desk.part.life.pid], 1)


@pytest.mark.parametrize(
    ("exit_code", "ends_by", "signals"),
    [(None, signal.SIGCONT, [signal.SIGTERM, signal.SIGCONT]), (-9, None, [])],
    ids=["a stopped process, which takes a SIGTERM when it goes on", "one that has ended"],
)
def test_a_part_that_does_not_run_is_restarted(
    desk: Desk, exit_code: int | None, ends_by: signal.Signals | None, signals: list[signal.Signals]
) -> None:
    desk.process.exit_code, desk.process.ends_by = exit_code, ends_by
    desk.part.pull("restart")
    assert desk.process.signals == signals
    assert desk.part.life.exit_code is None


def test_one_that_will_not_end_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_ENDING", process._ENDING * 0)
    with pytest.raises(WaitTimeoutError, match="for store to end by SIGTERM"):
        desk.part.pull("restart")
    assert len(desk.guardian.started) == 1


def test_what_is_refused_is_said_without_doing_anything(tmp_path: Path) -> None:
    desk = Desk(tmp_path, kill="it would forget")
    assert desk.part.refusal("kill") == "it would forget"
    assert desk.part.refusal("pause") is None
    assert desk.part.levers == set(LEVERS) - {"kill", *NOT_COPIED}
    with pytest.raises(UsageError, match=r"^`kill` cannot be done to store: it would forget$"):
        desk.part.pull("kill")
    assert desk.process.signals == []


def content(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_a_restored_part_has_the_data_of_its_copy(tmp_path: Path) -> None:
    data = DataDirectory.below(tmp_path / "store")
    desk = Desk(tmp_path, data)
    assert desk.part.levers == set(LEVERS)
    (data.path / "old").touch()
    desk.process.ends_by = signal.SIGTERM
    desk.part.pull("copy")
    (data.path / "new").touch()
    desk.guardian.processes[-1].ends_by = signal.SIGTERM
    desk.part.pull("restore")
    assert content(data.path) == {"old"}
    assert content(tmp_path / "store") == {"data", "copy"}
    assert len(desk.guardian.started) == len(desk.guardian.processes) == 3
    assert desk.restored == 2


def test_without_a_copy_the_part_goes_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path, DataDirectory.below(tmp_path / "store"))
    with pytest.raises(StackError, match=r"^store cannot be restored: no copy of its data was made$"):
        desk.part.pull("restore")
    assert desk.process.signals == []


def test_a_part_whose_data_cannot_be_copied_is_started_again(tmp_path: Path) -> None:
    data = DataDirectory.below(tmp_path / "store")
    desk = Desk(tmp_path, data)
    desk.process.ends_by = signal.SIGTERM
    data.path.rmdir()
    with pytest.raises(StackError, match="could not be copied"):
        desk.part.pull("copy")
    assert len(desk.guardian.started) == 2
    with pytest.raises(StackError):
        data.require_copy()


def test_a_part_that_runs() -> None:
    require_running(FakeProcess().managed())


@pytest.mark.parametrize(("code", "how"), [(0, "with exit code 0"), (1, "with exit code 1"), (-9, "by signal 9")])
def test_a_part_that_has_ended_is_named_with_its_last_words(code: int, how: str) -> None:
    with pytest.raises(StackError, match=f"^kafka ended {how}: it said this at last$") as caught:
        require_running(FakeProcess(exit_code=code).managed())
    assert caught.value.hint == "read its whole log, /nowhere/kafka.log"
