"""Slow writes to the checkpoint are logged while they go on, and end the process when they take too long."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline import log
from pipeline.config.batch_section import Commit
from pipeline.driver.stall import CommitWatch, StalledError, writes_checkpoint
from pipeline.events import CommitSlow


class Scene:
    """A watch that logs after 5 s and has 20 s, with a clock and a Spark that do as they are told."""

    def __init__(self, **settings: Any) -> None:
        self.now = 0.0
        self.writes = True
        self.asked = 0
        self.counted = 0
        commit = Commit(slow_after=timedelta(seconds=5), **settings)
        self.watch = CommitWatch(commit, 20, "s3a://c/p", lambda: self.now, self._writes, self._count)

    def _writes(self) -> bool:
        self.asked += 1
        return self.writes

    def _count(self) -> None:
        self.counted += 1

    def look_at(self, now: float, *, active: bool = True) -> None:
        self.now = now
        self.watch.check(active=active)


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    lines: list[Any] = []
    monkeypatch.setattr(log, "emit", lines.append)
    return lines


def test_a_slow_write_is_logged_once_and_counted(events: list[Any]) -> None:
    scene = Scene()
    scene.watch.batch_begins()
    scene.watch.batch_ends(3)
    for now in (4.9, 5.0, 8.0, 19.0):
        scene.look_at(now)
    assert events == [CommitSlow(batch=3, seconds=5.0, place="s3a://c/p")]
    assert scene.counted == 1


def test_one_that_takes_too_long_ends_the_process(events: list[Any]) -> None:
    scene = Scene()
    scene.watch.batch_begins()
    scene.watch.batch_ends(3)
    scene.look_at(20.0)
    with pytest.raises(StalledError, match=r"no commit within 20 s: .* s3a://c/p since batch 3 was emitted"):
        scene.look_at(21.1)
    assert len(events) == 1


def test_a_limit_below_the_first_line_holds_as_well(events: list[Any]) -> None:
    scene = Scene()
    scene.watch = CommitWatch(Commit(slow_after=timedelta(minutes=1)), 2, "p", lambda: scene.now, lambda: True)
    scene.look_at(0.0)
    with pytest.raises(StalledError, match="since the start"):
        scene.look_at(2.1)
    assert events == []


def test_the_offsets_of_the_first_batch_count_from_the_first_trigger(events: list[Any]) -> None:
    scene = Scene()
    scene.look_at(100.0)
    scene.look_at(104.0)
    assert events == []
    scene.look_at(105.0)
    assert events == [CommitSlow(batch=None, seconds=5.0, place="s3a://c/p")]


def test_a_batch_may_take_its_time(events: list[Any]) -> None:
    scene = Scene()
    scene.watch.batch_begins()
    scene.look_at(500.0)
    assert (events, scene.asked) == ([], 0)


def test_no_time_passes_between_triggers(events: list[Any]) -> None:
    scene = Scene()
    for now in range(0, 60, 3):
        scene.look_at(now, active=bool(now % 2))
    assert (events, scene.asked) == ([], 0)


def test_a_trigger_that_asks_kafka_is_no_slow_write(events: list[Any]) -> None:
    scene = Scene()
    scene.writes = False
    for now in range(60):
        scene.look_at(now)
    assert events == []


def test_what_kafka_took_before_a_write_is_no_part_of_it(events: list[Any]) -> None:
    scene = Scene()
    scene.writes = False
    for now in range(60):
        scene.look_at(now)
    scene.writes = True
    scene.look_at(60.0)
    scene.look_at(63.9)
    assert (events, scene.counted) == ([], 0)
    scene.look_at(65.0)
    assert events == [CommitSlow(batch=None, seconds=6.0, place="s3a://c/p")]
    with pytest.raises(StalledError):
        scene.look_at(80.0)


def test_the_stacks_are_looked_at_once_a_second_at_most() -> None:
    scene = Scene()
    scene.writes = False
    for tenth in range(100):
        scene.look_at(tenth / 10)
    assert scene.asked == 5


def test_each_slow_write_is_logged(events: list[Any]) -> None:
    scene = Scene()
    for number in range(2):
        scene.watch.batch_begins()
        scene.watch.batch_ends(number)
        scene.look_at(scene.now + 6)
    assert [line.batch for line in events] == [0, 1]


def test_the_incidents_policy_waits_in_silence(events: list[Any]) -> None:
    scene = Scene(policy="wait")
    scene.watch.batch_begins()
    scene.watch.batch_ends(0)
    scene.look_at(10_000.0)
    assert (events, scene.asked) == ([], 0)


@pytest.mark.parametrize(
    ("stacks", "writes"),
    [
        ({"stream execution thread for html": ["java.net.Socket", "o.a.s.checkpointing.HDFSMetadataLog"]}, True),
        ({"stream execution thread for html": ["java.lang.Thread", "o.a.s.kafka010.KafkaOffsetReaderAdmin"]}, False),
        ({"another": ["o.a.s.checkpointing.HDFSMetadataLog"]}, False),
        ({}, False),
    ],
)
def test_it_writes_where_its_stack_has_one_of_the_logs(stacks: dict[str, list[str]], *, writes: bool) -> None:
    def thread(name: str) -> Any:
        return _Hashable(getName=lambda: name)

    def frame(name: str) -> Any:
        return SimpleNamespace(getClassName=lambda: name)

    class Map(dict[Any, Any]):
        keySet: Callable[[], Any] = dict.keys  # noqa: N815 — Java's name

    found = Map({thread(name): [frame(one) for one in names] for name, names in stacks.items()})
    threads = SimpleNamespace(getAllStackTraces=lambda: found)
    spark: Any = SimpleNamespace(_jvm=SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(Thread=threads))))
    assert writes_checkpoint(spark) is writes


class _Hashable(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]
