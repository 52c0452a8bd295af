from typing import Any

import pytest

from pipeline.aligned.event_time_watch import EventTimeWatch
from pipeline.aligned.plan_status import PartitionStatus, PlanStatus
from pipeline.events import Event, EventTimeFreed, EventTimeHeld, PartitionsIdle


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
