"""Batches and writes to the checkpoint that take too long, by a clock that the test turns."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.config.batch_section import Commit
from pipeline.driver.stall import CommitWatch, StalledError, StallWatch, writes_checkpoint
from pipeline.events import CommitSlow, Event


def test_what_did_not_come_to_its_end_is_named() -> None:
    """A batch that is emitted is not at work any more, and one that is committed is not late."""
    now = 0.0
    watch = StallWatch(10, lambda: now)
    watch.begin(0)
    watch.emitted(0)
    now = 10.1
    with pytest.raises(StalledError, match=r"batch 0 is emitted, and its commit is not written") as committing:
        watch.check()
    watch.committed(0)
    watch.check()
    now = 20.2
    with pytest.raises(
        StalledError, match=r"^no commit within 10 s: batch 0 is committed, and the next one"
    ) as planning:
        watch.check()
    assert (committing.value.stage, planning.value.stage) == ("commit", "planning")
    assert "brokers" in (planning.value.hint or "")


def test_late_news_of_a_batch_changes_nothing_of_the_next() -> None:
    now = 0.0
    watch = StallWatch(10, lambda: now)
    watch.committed(0)
    assert watch.batch is None, "nothing is planned of which no batch was seen"
    watch.begin(1)
    watch.emitted(0)
    watch.committed(0)
    now = 10.1
    with pytest.raises(StalledError, match="batch 1 is still at work") as late:
        watch.check()
    assert late.value.stage == "batch"


def test_only_the_batch_that_was_seen_is_ended() -> None:
    """Whoever looked may be late: the next batch has begun meanwhile, and must be watched."""
    now = 0.0
    watch = StallWatch(10, lambda: now)
    assert watch.batch is None
    watch.begin(0)
    seen = watch.batch
    watch.begin(1)
    watch.end(seen)
    now = 10.1
    with pytest.raises(StalledError, match="batch 1"):
        watch.check()
    watch.end(1)
    watch.check()
    assert watch.batch is None


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

    def emit(self, batch: int) -> None:
        self.watch.batch_begins()
        self.watch.batch_ends(batch)

    def look_at(self, *times: float, active: bool = True) -> None:
        for self.now in times:
            self.watch.check(active=active)


def slow(seconds: float, batch: int | None = None) -> CommitSlow:
    return CommitSlow(batch=batch, seconds=seconds, place="s3a://c/p")


def test_a_slow_write_is_logged_once_and_counted_and_ends_the_process(events: list[Event]) -> None:
    scene = Scene()
    scene.emit(3)
    scene.look_at(4.9, 5.0, 8.0, 20.0)
    assert (events, scene.counted) == ([slow(5.0, batch=3)], 1)
    with pytest.raises(StalledError, match=r"no commit within 20 s: .* s3a://c/p since batch 3 was emitted"):
        scene.look_at(21.1)
    assert len(events) == 1


def test_a_limit_below_the_first_line_holds_as_well(events: list[Event]) -> None:
    scene = Scene()
    scene.watch = CommitWatch(Commit(slow_after=timedelta(minutes=1)), 2, "p", lambda: scene.now, lambda: True)
    scene.look_at(0.0)
    with pytest.raises(StalledError, match="since the start"):
        scene.look_at(2.1)
    assert events == []


def test_the_offsets_of_the_first_batch_count_from_the_first_trigger(events: list[Event]) -> None:
    scene = Scene()
    scene.look_at(100.0, 104.0)
    assert events == []
    scene.look_at(105.0)
    assert events == [slow(5.0)]


def test_a_batch_may_take_its_time(events: list[Event]) -> None:
    scene = Scene()
    scene.watch.batch_begins()
    scene.look_at(500.0)
    assert (events, scene.asked) == ([], 0)


def test_no_time_passes_between_triggers(events: list[Event]) -> None:
    scene = Scene()
    for now in range(0, 60, 3):
        scene.look_at(now, active=bool(now % 2))
    assert (events, scene.asked) == ([], 0)


def test_the_incidents_policy_waits_in_silence(events: list[Event]) -> None:
    scene = Scene(policy="wait")
    scene.emit(0)
    scene.look_at(10_000.0)
    assert (events, scene.asked) == ([], 0)


def test_what_kafka_took_before_a_write_is_no_part_of_it(events: list[Event]) -> None:
    scene = Scene()
    scene.writes = False
    scene.look_at(*range(60))
    scene.writes = True
    scene.look_at(60.0, 63.9)
    assert (events, scene.counted) == ([], 0)
    scene.look_at(65.0)
    assert events == [slow(6.0)]
    with pytest.raises(StalledError):
        scene.look_at(80.0)


def test_the_stacks_are_looked_at_once_a_second_at_most() -> None:
    scene = Scene()
    scene.writes = False
    scene.look_at(*(tenth / 10 for tenth in range(100)))
    assert scene.asked == 5


def test_each_slow_write_is_logged(events: list[Event]) -> None:
    scene = Scene()
    for number in range(2):
        scene.emit(number)
        scene.look_at(scene.now + 6)
    assert [line.batch for line in events if isinstance(line, CommitSlow)] == [0, 1]


class _Hashable(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]


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
    class Map(dict[Any, Any]):
        keySet: Callable[[], Any] = dict.keys  # noqa: N815 — Java's name

    found = Map()
    for name, classes in stacks.items():
        thread = _Hashable(getName=lambda name=name: name)
        found[thread] = [SimpleNamespace(getClassName=lambda one=one: one) for one in classes]
    threads = SimpleNamespace(getAllStackTraces=lambda: found)
    spark: Any = SimpleNamespace(_jvm=SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(Thread=threads))))
    assert writes_checkpoint(spark) is writes
