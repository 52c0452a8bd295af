"""What the driver is told of a plan, and what it says of partitions that hold the others back or are silent."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.aligned.event_time_watch import EventTimeWatch, batch_started
from pipeline.aligned.plan_status import PartitionStatus, PlanStatus, StatusWatch, read_status, write_status
from pipeline.aligned.spark_source import SilenceWatch
from pipeline.events import BatchStarted, Event, EventTimeFreed, EventTimeHeld, PartitionsIdle
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.aligned.planned_log import PlannedLog

A, B = SourcePartition("a", 0), SourcePartition("b", 0)
HELD = {"a": [1, 5, 6, 7], "b": [5]}


def look(
    watch: StatusWatch, log: PlannedLog, now_s: float, *, slice_ms: int = 100, max_offsets: int = 1000
) -> dict[str, PartitionStatus]:
    """Of the plan that the log is ready for, which is then taken."""
    plan = log.plan(slice_ms=slice_ms, max_offsets=max_offsets)
    read = {one: max((time for time in log.times[one][:at] if time), default=None) for one, at in log.positions.items()}
    found = watch.look(plan, log.fronts(), read, log.reached(), dict.fromkeys(log.times, 3.5), now_s)
    assert found.common_ms == log.reached()
    log.take(plan)
    return {one.topic: one for one in found.partitions}


def test_who_holds_the_others_back_and_for_how_long() -> None:
    log, watch = PlannedLog.of(HELD), StatusWatch()
    first = look(watch, log, 100.0)
    assert first["b"].held_s == 0, "just now"
    held = look(watch, log, 107.0)
    assert (held["b"].held_s, held["b"].read_ms, held["b"].waiting_ms, held["b"].silent_s) == (7.0, 5, None, 3.5)
    assert (held["a"].held_s, held["a"].read_ms, held["a"].waiting_ms) == (0.0, 5, 6), "it is ahead, and waits"


def test_an_event_that_lets_the_others_go_on_ends_it() -> None:
    log, watch = PlannedLog.of({"a": [1, 5, 60, 70], "b": [5]}), StatusWatch()
    look(watch, log, 100.0)
    log.times[B].append(500)
    assert look(watch, log, 107.0)["b"].held_s == 0
    look(watch, log, 108.0)
    log.times[A].append(600)
    look(watch, log, 110.0)
    assert look(watch, log, 111.0)["b"].held_s == 1.0, "it counts anew"


def test_a_partition_that_is_read_with_all_others_to_the_end_holds_nothing() -> None:
    log, watch = PlannedLog.of({"a": [1, 5], "b": [5]}), StatusWatch()
    for now_s in (100.0, 120.0, 140.0):
        assert {one.held_s for one in look(watch, log, now_s).values()} == {0.0}
        for times in log.times.values():
            times.append(int(now_s))


def test_one_that_is_idle_holds_nothing_and_says_so() -> None:
    log, watch = PlannedLog.of(HELD, idle=frozenset({B})), StatusWatch()
    assert [look(watch, log, at)["b"].idle for at in (100.0, 120.0)] == [True, True]
    assert look(watch, log, 140.0)["b"].held_s == 0


def test_where_the_bound_on_offsets_ends_the_batch_no_partition_does() -> None:
    log, watch = PlannedLog.of({"a": list(range(1, 90)), "b": [50]}), StatusWatch()
    look(watch, log, 100.0, max_offsets=5)
    assert look(watch, log, 107.0, max_offsets=5)["b"].held_s == 0


def test_a_batch_says_what_ended_it() -> None:
    status = PlanStatus(at_s=1, common_ms=None, partitions=(), slice_ms=30_000, ended_by="slice")
    assert batch_started(3, 0, 7, status) == BatchStarted(batch=3, began_ms=7, slice_s=30, ended_by="slice")
    assert batch_started(3, 2, 7, None) == BatchStarted(batch=3, reserved=2, began_ms=7), "one that is run again"


def test_what_is_written_is_read_and_what_cannot_be_is_none(tmp_path: Path) -> None:
    place = tmp_path / "status.json"
    assert read_status(place) is None
    part = PartitionStatus(topic="a", partition=3, read_ms=5, waiting_ms=None, silent_s=1.5, idle=True, held_s=0)
    status = PlanStatus(at_s=12.5, common_ms=5, partitions=(part,))
    write_status(place, status)
    assert read_status(place) == status
    assert [one.name for one in tmp_path.iterdir()] == ["status.json"]
    place.write_text("{")
    assert read_status(place) is None
    write_status(tmp_path / "not there" / "status.json", status)  # and no batch ends by it


def test_a_partition_is_idle_when_its_end_has_not_moved_for_long_enough() -> None:
    watch = SilenceWatch(10)
    assert watch.look({A: 5, B: 0}, 100.0) == frozenset(), "what was before the first look is not known"
    assert watch.look({A: 6, B: 0}, 109.9) == frozenset()
    assert watch.look({A: 6, B: 0}, 110.0) == {B}
    assert watch.look({A: 6, B: 1}, 119.8) == frozenset(), "an event ends the silence"
    assert watch.look({A: 6, B: 1}, 119.9) == {A}


def test_an_end_that_moves_without_an_event_ends_no_silence() -> None:
    watch = SilenceWatch(10)
    assert watch.look({A: 5}, 100.0, {A}) == frozenset()
    assert watch.look({A: 7}, 109.9, {A}) == frozenset()
    assert watch.look({A: 9}, 110.0, {A}) == {A}
    assert watch.look({A: 10}, 111.0) == frozenset()


def test_a_new_partition_has_its_whole_time() -> None:
    watch = SilenceWatch(10)
    watch.look({A: 5}, 100.0)
    assert watch.look({A: 5, B: 0}, 110.0) == {A}
    assert watch.look({A: 5, B: 0}, 120.0) == {A, B}


def test_without_a_time_nobody_holds_the_others_back() -> None:
    assert SilenceWatch(0).look({A: 5}, 100.0) == {A}


def part(topic: str, number: int = 0, **more: Any) -> PartitionStatus:
    own = {"read_ms": 5_000, "waiting_ms": None, "silent_s": 0.0, "idle": False, "held_s": 0.0} | more
    return PartitionStatus(topic=topic, partition=number, **own)


class Job:
    """A job with a plan each second."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.said: list[Event] = []
        self.status: PlanStatus | None = None
        self.watch = EventTimeWatch(lambda: self.status, self.said.append, lambda: self.now_s)

    def plan(self, *partitions: PartitionStatus, common_ms: int | None = 5_000) -> list[Event]:
        """What is said of it."""
        self.now_s += 1
        self.status = PlanStatus(at_s=self.now_s, common_ms=common_ms, partitions=partitions)
        self.said.clear()
        self.watch.look()
        return list(self.said)


@pytest.fixture
def job() -> Job:
    return Job()


def test_what_holds_a_batch_is_said_when_it_lasts(job: Job) -> None:
    others = part("dense", waiting_ms=65_250), part("burst", 2, waiting_ms=5_500), part("quiet", idle=True)
    assert job.plan(part("sparse", held_s=9.9), *others)[1:] == []
    assert job.plan(part("sparse", held_s=10.04, silent_s=12.3), part("other", 1, held_s=4.0), *others) == [
        EventTimeHeld(
            by="sparse/0",
            seconds=10.0,
            silent_s=12.3,
            read_to="1970-01-01T00:00:05.000+00:00",
            common="1970-01-01T00:00:05.000+00:00",
            also=("other/1",),
            waiting={"dense/0": 60.25, "burst/2": 0.5},
            idle=("quiet/0",),
        )
    ]


def test_it_is_said_once_a_minute_and_when_it_is_over(job: Job) -> None:
    names = [one.event for second in range(10, 131) for one in job.plan(part("a", held_s=float(second)))]
    assert names == ["event_time_held"] * 3
    assert job.plan(part("a")) == [EventTimeFreed(seconds=130.0)]
    assert job.plan(part("a")) == []


def test_what_was_not_said_to_begin_is_not_said_to_end(job: Job) -> None:
    job.plan(part("a", held_s=9.0))
    assert job.plan(part("a")) == []


UNREAD = part("empty", read_ms=None, held_s=11.0), part("a", read_ms=None, waiting_ms=4_000)
MANY = [part("a", number, waiting_ms=5_000 + number) for number in range(30)]


@pytest.mark.parametrize(
    ("partitions", "common_ms", "said"),
    [
        (
            [*UNREAD, part("b", read_ms=None, waiting_ms=9_000)],
            None,
            {"read_to": None, "common": None, "waiting": {"b/0": 5.0, "a/0": 0.0}},
        ),
        (
            [part("slow", held_s=11.0), *MANY],
            5_000,
            {"waiting": {f"a/{number}": number / 1000 for number in range(29, 9, -1)}},
        ),
        ([part("a", held_s=11.0, read_ms=10**18)], 5_000, {"read_to": "1000000000000000000 ms"}),
    ],
    ids=["before anything was read the earliest counts", "of very many the furthest", "a time of no calendar as it is"],
)
def test_what_is_said_of_what_waits(
    job: Job, partitions: list[PartitionStatus], common_ms: int | None, said: dict[str, Any]
) -> None:
    found = job.plan(*partitions, common_ms=common_ms)[0]
    assert isinstance(found, EventTimeHeld)
    assert {name: getattr(found, name) for name in said} == said
    assert list(found.waiting) == list(said.get("waiting", {}))


def test_a_plan_is_looked_at_once(job: Job) -> None:
    job.plan(part("a", held_s=11.0))
    job.now_s += 100
    job.watch.look()
    assert len(job.said) == 1, "the trigger is not through, or the query has ended"
    job.status = None
    job.watch.look()


def test_which_are_idle_is_said_when_they_change_and_seldom(job: Job) -> None:
    assert job.plan(part("a"), part("b")) == []
    assert job.plan(part("a"), part("b", idle=True)) == [PartitionsIdle(partitions=("b/0",), number=1, of=2)]
    assert job.plan(part("a", idle=True), part("b", idle=True)) == []
    assert job.plan(part("a"), part("b")) == []
    job.now_s += 600
    assert job.plan(part("a"), part("b")) == [PartitionsIdle(partitions=(), number=0, of=2)]
    job.now_s += 600
    assert job.plan(part("a"), part("b")) == []
