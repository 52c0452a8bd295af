"""When a container's watch kills and what it says then, and the disk that a directory takes."""

import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import ValidationError

from devkit.container.container_watch import Contained, ContainerWatch
from devkit.container.disk import clear, disk_usage
from devkit.container.limits import Container
from devkit.container.memory import KindMemory, TreeMemory

MIB = 1 << 20


@dataclass
class Held:
    """By an engine, to its memory."""

    went_over_memory: bool = False


class Program:
    def __init__(self) -> None:
        self.memory_mib = 100
        self.disk_mib = 0
        self.kills = 0
        self.killed = threading.Event()
        self.held: Held | None = None

    def memory(self) -> TreeMemory:
        return TreeMemory(rows=(KindMemory(pid=7, kind="driver", size=self.memory_mib * MIB),), measure="proportional")

    def kill(self) -> None:
        self.kills += 1
        self.killed.set()

    def clear(self) -> None:
        assert self.kills, "a living program keeps its files"
        self.disk_mib = 0

    def watch(self, **limits: str) -> ContainerWatch:
        return ContainerWatch(
            Container.model_validate(limits),
            Contained(
                memory=self.memory,
                split=lambda memory: memory,
                disk=lambda: self.disk_mib * MIB,
                kill=self.kill,
                clear=self.clear,
                engine=lambda: self.held,
            ),
        )


@pytest.fixture
def program() -> Program:
    return Program()


def test_over_its_memory_it_is_killed_and_the_kinds_are_told(program: Program) -> None:
    watch = program.watch(memory="100MiB")
    assert watch.look(3) is None, "it is at its limit"
    assert (program.kills, watch.kill_of(3)) == (0, None)
    program.memory_mib = 101
    killed = watch.look(3)
    assert killed is not None
    assert (killed.process, killed.limit, killed.allowed, killed.used) == (3, "memory", 100 * MIB, 101 * MIB)
    assert killed.text == (
        "over its container's memory limit of 100MiB: proportional memory of 101MiB (driver 101MiB); "
        "killed as 137, enforced by sampling every 200ms"
    )
    assert (program.kills, watch.kill_of(3), watch.kill_of(2)) == (1, killed, None)
    assert watch.figures().kills == (killed,)


def test_over_its_disk_it_is_killed(program: Program) -> None:
    watch = program.watch(disk="10MiB")
    program.disk_mib = 11
    killed = watch.look(1)
    assert killed is not None
    assert killed.limit == "disk"
    assert "disk limit of 10MiB: a scratch directory of 11MiB (driver 100MiB)" in killed.text
    assert watch.look(2) is None, "the next process begins without the files"


def test_over_its_memory_it_keeps_its_files(program: Program) -> None:
    watch = program.watch(memory="50MiB", disk="10MiB")
    program.disk_mib = 9
    assert watch.look(1) is not None
    assert program.disk_mib == 9


def test_the_peak_is_the_most_of_any_look(program: Program) -> None:
    watch = program.watch(memory="1GiB")
    for program.memory_mib in (300, 200):
        watch.look(1)
    assert watch.figures().peak_memory == 300 * MIB


def test_a_thread_of_its_own_looks_at_each_process_until_the_kill(program: Program) -> None:
    watch = program.watch(memory="150MiB")
    watch.start(1)
    watch.start(2)
    program.memory_mib = 200
    assert program.killed.wait(10)
    watch.stop()
    assert (watch.kill_of(1), watch.kill_of(2) is not None) == (None, True)


def test_what_an_engine_holds_is_left_to_it(program: Program) -> None:
    program.held = Held()
    watch = program.watch(memory="100MiB", disk="1MiB")
    for program.memory_mib in (150, 90, 0):
        assert watch.look(1) is None
    assert (program.kills, watch.kill_of(1)) == (0, None)
    program.held.went_over_memory = True
    killed = watch.kill_of(1)
    assert killed is not None
    assert (killed.used, killed.enforced_by) == (150 * MIB, "engine"), "the most that was seen of it"
    assert killed.text == (
        "over its container's memory limit of 100MiB: the engine had a process of it killed; "
        "at most, of looks every 200ms: proportional memory of 150MiB (driver 150MiB)"
    )
    assert watch.kill_of(1) == killed
    assert watch.figures().kills == (killed,), "asked twice, it was killed once"
    program.disk_mib = 2
    assert watch.look(2) is not None, "its disk is nobody else's business"


def test_an_engine_may_run_elsewhere(program: Program) -> None:
    program.held = Held(went_over_memory=True)
    killed = program.watch(memory="100MiB").kill_of(1)
    assert killed is not None
    assert killed.text.endswith("not seen here")


def test_a_container_without_a_limit_is_none() -> None:
    with pytest.raises(ValidationError, match="write memory, disk or both"):
        Container.model_validate({})


def test_files_at_any_depth_count_and_links_do_not(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "large").write_bytes(b"x" * 4 * MIB)
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b").mkdir(parents=True)
    (scratch / "one").write_bytes(b"x" * MIB)
    (scratch / "a" / "b" / "two").write_bytes(b"x" * MIB)
    (scratch / "link").symlink_to(elsewhere)
    assert 2 * MIB <= disk_usage(scratch) < 3 * MIB


def test_a_directory_that_is_gone_takes_nothing(tmp_path: Path) -> None:
    assert disk_usage(tmp_path / "gone") == 0


def test_what_is_in_it_goes_and_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b").mkdir(parents=True)
    (scratch / "a" / "b" / "two").write_bytes(b"x")
    (scratch / "one").touch()
    (scratch / "link").symlink_to(elsewhere)
    clear(scratch)
    assert list(scratch.iterdir()) == []
    assert (elsewhere / "kept").exists()
    clear(tmp_path / "gone")
