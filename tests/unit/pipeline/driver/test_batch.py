"""The steps of a micro-batch, with a data frame that notes what is done to it and lanes that do what the test says."""

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any
from unittest.mock import ANY

import pytest

from pipeline.config.batch_section import Reuse
from pipeline.config.pipeline_config import Breaker, PipelineConfig
from pipeline.deferral.entry import Entry
from pipeline.deferral.fold import FencedError
from pipeline.deferral.ledger import ProtocolError
from pipeline.deferral.snapshot import Fence
from pipeline.driver import batch as module
from pipeline.driver import version_check
from pipeline.driver.batch import BatchWriter, reused
from pipeline.driver.stall import StalledError, StallWatch
from pipeline.driver.stop import HeldError
from pipeline.errors import PipelineError, UnreadableSourceError
from pipeline.events import OffsetsRead
from pipeline.fetch import breakers
from pipeline.fetch.breaker import Opened
from pipeline.fetch.route import Ask
from pipeline.metrics import worker_metrics
from pipeline.metrics.progress import Progress
from pipeline.records.record import SourcePartition
from pipeline.worker import spark_task as task
from pipeline.worker import task_attempt
from pipeline.worker.task_attempt import EndedTask
from pipeline.worker.unknown_versions import VersionsSeen
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.driver.batch_parts import Accumulated, Frame, Lanes, OwnedUntil, Rows


@dataclass
class Bench:
    writer: BatchWriter
    watch: StallWatch
    lanes: Lanes
    steps: list[str]
    functions: list[Any]
    now: list[float]
    added: list[Opened]
    seen: list[VersionsSeen]


MakeBench = Callable[..., Bench]


@pytest.fixture
def bench(make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch) -> MakeBench:
    def make(
        *reservations: Entry,
        failure: Exception | None = None,
        max_offsets: int = 1000,
        reuse: str = "off",
        ended: Sequence[EndedTask] = (EndedTask(21), EndedTask(23)),
        **deferral: Any,
    ) -> Bench:
        steps: list[str] = []
        functions: list[Any] = []
        now = [0.0]
        opened: list[Opened] = []
        seen: list[VersionsSeen] = []
        accumulated = iter((Accumulated(seen), Accumulated(list(ended)), Accumulated(opened)))
        watch = StallWatch(10, lambda: now[0])
        lanes = Lanes(steps, reservations, watch=watch)

        def write(function: Any, *_: Any) -> None:
            steps.append("write")
            functions.append(function)
            assert watch.batch is not None
            if failure:
                raise failure

        monkeypatch.setattr(module, "_lanes", lambda *_: lanes)

        def discard(function: Any) -> None:
            assert function.func is task._versions
            steps.append("look")

        monkeypatch.setattr(module, "write", write)
        monkeypatch.setattr(version_check, "discard", discard)
        for one in (module, version_check):
            monkeypatch.setattr(one, "accumulated_list", lambda _: next(accumulated))
        monkeypatch.setattr(module, "entry_rows", lambda _, entries: Rows(entries))
        config = make_config(
            deferral=deferral, fetch={"concurrency": 40}, batch={"max_offsets": max_offsets, "reuse": reuse}
        )
        spark: Any = None
        return Bench(BatchWriter(spark, config, watch), watch, lanes, steps, functions, now, opened, seen)

    return make


def write(made: Bench, number: int = 3, frame: Frame | None = None) -> Frame:
    frame = frame or Frame()
    given: Any = frame
    made.writer.write(given, number)
    return frame


def attempted(function: Any) -> Any:
    """What is within the one that reports attempts."""
    assert function.func is task_attempt._report
    return function.args[0]


def main_lane(function: Any) -> Any:
    """The lane's function in those that report attempts and breakers."""
    reporting = attempted(function)
    assert reporting.func is breakers._report
    inner, settings, _added, _refused = reporting.args
    assert settings == Breaker()
    assert inner.func is task._main_lane
    return inner


def concurrency(made: Bench) -> int:
    """What a worker is given of the bound on requests."""
    return PipelineConfig.model_validate_json(main_lane(made.functions[0]).args[0]).fetch.concurrency


def read_to(**partitions: int) -> Progress:
    """A batch 0 that ends at these offsets of partitions, by `pN`."""
    ends = {SourcePartition("source", int(name[1:])): offset for name, offset in partitions.items()}
    return Progress(0, 9, {}, ends)


def test_a_batch_is_planned_written_and_settled(bench: MakeBench) -> None:
    made = bench(ended=(EndedTask(21, deferred=2), EndedTask(23, deferred=5)))
    write(made)
    assert made.steps == ["plan 3", "look", "write", "written 3"]
    (function,) = made.functions
    (_config, fence, target) = main_lane(function).args
    assert (concurrency(made), fence) == (20, Fence({}, frozenset(), {}))
    assert (target.epoch, target.batch, target.limit_bytes) == (5, 3, 777)
    assert made.lanes.tasks == {21, 23}, "the attempts by which it ended"
    assert function.args[2] == made.writer._config.deferral.topic, "what goes there is counted"
    assert made.lanes.deferred == 7


SORTED = ("sort", "topic", "partition", "offset")


def by_page(tasks: int) -> tuple[Any, ...]:
    return ("repartition", tasks, "topic", "partition", "key")


@pytest.mark.parametrize(
    ("reserved", "frame", "deferral", "done"),
    [
        pytest.param([], (2, 4), {}, [("coalesce", 2)], id="each source partition is a task, which keeps its order"),
        pytest.param([], (8, 4), {}, [("coalesce", 3)], id="a slow round finds a slot of its own"),
        pytest.param([], (8, 4), {"slow_lane": {"rounds": 3}}, [("coalesce", 1)], id="and so do three"),
        pytest.param([], (8, 4), {"slow_lane": {"rounds": 4}}, [("coalesce", 1)], id="the batch has one at least"),
        pytest.param([], (4, 4), {"policy": "none"}, [("coalesce", 4)], id="without slow rounds it has all slots"),
        pytest.param(
            [7, 9], (2, 4), {}, [("coalesce", 2), ("union", [7, 9]), by_page(2), SORTED], id="reservations join pages"
        ),
        pytest.param(
            [7], (8, 4), {}, [("coalesce", 3), ("union", [7]), by_page(3), SORTED], id="and join what is coalesced"
        ),
    ],
)
def test_tasks_of_a_batch(
    bench: MakeBench, reserved: list[int], frame: tuple[int, int], deferral: dict[str, Any], done: list[Any]
) -> None:
    assert write(bench(*map(entry, reserved), **deferral), frame=Frame(*frame)).done == done


@pytest.mark.parametrize(("policy", "failure"), [("defer", None), ("none", None), ("none", RuntimeError("refused"))])
def test_a_task_that_ended_by_a_later_attempt_is_said(
    bench: MakeBench, policy: str, failure: Exception | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also by a batch that has failed for another reason: that its restart repeats it is another cause."""
    made = bench(
        policy=policy,
        failure=failure,
        ended=(EndedTask(21), EndedTask(23, 1, (OffsetsRead("source", 0, 7, 9),))),
    )
    with suppress(RuntimeError):
        write(made)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (output,) = (line for line in lines if line["event"] == "task_retried")
    assert output == {"at": ANY, "event": "task_retried", "batch": 3, "attempts": 1, "read": [["source", 0, 7, 9]]}
    assert made.lanes.tasks == ({21, 23} if policy == "defer" else frozenset())


@pytest.mark.parametrize(("partitions", "slots", "share"), [(1, 4, 40), (2, 4, 20), (8, 5, 10), (0, 4, 40), (1, 1, 40)])
def test_tasks_at_once_share_the_bound_on_requests(bench: MakeBench, partitions: int, slots: int, share: int) -> None:
    made = bench()
    write(made, frame=Frame(partitions, slots))
    assert concurrency(made) == share


def test_what_tasks_found_to_be_unhealthy_is_settled_with_the_batch_and_not_asked(bench: MakeBench) -> None:
    made = bench()
    opened = Opened("enwiki", 20, 12, "status 503", (Ask("/w/rest.php/v1/revision/1/html", "event:latest"),))
    made.added.append(opened)
    made.lanes.unhealthy = frozenset({"dewiki"})
    write(made)
    assert made.lanes.opened == [opened]
    assert attempted(made.functions[0]).args[-1] == {"dewiki"}


def test_a_batch_with_news_of_few_partitions_leaves_the_others_their_share(bench: MakeBench) -> None:
    """Else a worker's bounds, and with them its connections, would change from batch to batch."""
    made = bench()
    made.writer.committed(read_to(p0=5, p1=5, p2=5))
    write(made, frame=Frame(partitions=1, slots=4))
    assert concurrency(made) == 40 // 3


def test_the_lanes_are_told_what_is_committed(bench: MakeBench) -> None:
    made = bench()
    made.writer.committed(read_to(p2=5))
    assert made.lanes.ends == {("source", 2): 5}
    bench(policy="none").writer.committed(read_to(p2=5))


def test_what_comes_by_page_stays_in_its_tasks_and_is_sorted(bench: MakeBench) -> None:
    """Behind a state. The bound on requests is for as many workers."""
    made = bench()
    made.writer.by_page(5)
    assert write(made).done == [SORTED]
    assert concurrency(made) == 8


def test_without_deferral_nothing_is_planned(bench: MakeBench) -> None:
    made = bench(policy="none")
    write(made)
    assert made.steps == ["look", "write"]
    assert attempted(made.functions[0]).func is task._direct


def test_a_batch_is_watched_until_it_is_committed(bench: MakeBench) -> None:
    """What is written is not committed yet: Spark's log may be what hangs."""
    made = bench()
    write(made)
    made.now[0] = 10.1
    with pytest.raises(StalledError, match="batch 3"):
        made.writer.check(committed=2)
    assert made.writer.batch == 3
    made.writer.check(committed=3)
    assert made.writer.batch is None
    made.writer.check()


def test_a_plan_of_the_next_batch_that_hangs_is_not_taken_for_the_last_batch(bench: MakeBench) -> None:
    """As Spark asks a dead broker where the source ends, in the trigger after the commit."""
    made = bench()
    write(made, 3)
    made.now[0] = 9
    made.writer.committed(Progress(batch=3, rows=1, durations_ms={}, positions={}))
    made.now[0] = 19
    made.writer.check()
    made.now[0] = 19.1
    with pytest.raises(StalledError, match="batch 3 is committed, and the next one is not planned"):
        made.writer.check()
    made.writer.check(committed=3)  # the trigger has ended: there is no news
    made.writer.check()


def test_the_next_batch_tells_that_the_last_is_committed(bench: MakeBench) -> None:
    made = bench()
    write(made, 3)
    made.now[0] = 9
    write(made, 4)
    made.now[0] = 18
    made.writer.check()


class Watches:
    """What watches a batch: the commits, which Spark makes between two of them, and the metrics."""

    def __init__(self, steps: list[str]) -> None:
        self.measurements = {"main": object(), "slow": object()}
        self._steps = steps

    def batch_begins(self) -> None:
        self._steps.append("begins")

    def batch_ends(self, number: int) -> None:
        self._steps.append(f"ends {number}")

    def check(self, *, active: bool) -> None:
        self._steps.append(f"active {active}")

    def batch_written(self, seconds: float) -> None:
        assert seconds >= 0
        self._steps.append("measured")


@pytest.mark.parametrize(
    ("failure", "end"),
    [(None, ["written 3", "measured"]), (RuntimeError("refused"), [])],
    ids=["what is written is measured", "what failed is over, and is not"],
)
def test_a_batch_is_watched_from_its_beginning_to_its_end(
    bench: MakeBench, failure: Exception | None, end: list[str]
) -> None:
    made = bench(failure=failure)
    watches: Any = Watches(made.steps)
    made.writer._commits = made.writer._metrics = watches
    with pytest.raises(RuntimeError, match="refused") if failure else nullcontext():
        write(made)
    made.writer.check_commit(active=True)
    assert made.steps == ["begins", "plan 3", "look", "write", *end, "ends 3", "active True"]
    (function,) = made.functions
    assert function.func is worker_metrics._report
    inner, measurements = function.args
    assert main_lane(inner)
    assert measurements is watches.measurements["main"]


def test_a_batch_of_another_major_version_stops_the_job_and_is_not_settled(bench: MakeBench) -> None:
    made = bench()
    made.seen += [VersionsSeen(150, 2, "/mediawiki/page/change/2.0.0"), VersionsSeen(49)]
    with pytest.raises(UnreadableSourceError, match=r"2 of 199 events of batch 3 .*: /mediawiki/page/change/2\.0\.0"):
        write(made)
    assert made.steps == ["plan 3", "look"], "nothing of it is written"
    with pytest.raises(UnreadableSourceError) as stopped:
        made.writer.check()
    assert stopped.value.exit_code == 2


@pytest.mark.parametrize(
    ("max_offsets", "reuse", "reads", "looks"),
    [
        pytest.param(1000, "off", 2, ["look"], id="off"),
        pytest.param(1000, "released", 1, ["look"], id="released"),
        pytest.param(1000, "cached", 1, ["look"], id="cached"),
        pytest.param(99, "off", 1, [], id="too small to tell"),
    ],
)
def test_how_often_a_batch_is_read(
    bench: MakeBench, max_offsets: int, reuse: str, reads: int, looks: list[str]
) -> None:
    made = bench(max_offsets=max_offsets, reuse=reuse)
    write(made)
    assert made.writer.reads(3) == reads
    assert made.steps == ["plan 3", *looks, "write", "written 3"]


@pytest.mark.parametrize(
    ("policy", "looks", "steps"),
    [
        ("none", 0, ["owner"]),
        ("none", 1, ["owner", "look", "write", "owner"]),
        ("defer", 0, ["plan 3", "owner"]),
    ],
    ids=["before it emits", "before it commits", "before it emits, with a ledger, whose epoch is asked later"],
)
def test_a_batch_of_a_job_that_was_replaced_ends_it(
    bench: MakeBench, policy: str, looks: int, steps: list[str]
) -> None:
    made = bench(policy=policy)
    owned: Any = OwnedUntil(made.steps, looks)
    made.writer.own(owned)
    with pytest.raises(FencedError):
        write(made)
    assert made.steps == steps
    with pytest.raises(FencedError):
        made.writer.check()


class SparksError(Exception):
    """Stands for what PySpark raises."""

    __module__ = "pyspark.errors.exceptions.captured"


def test_what_spark_fails_of_is_not_settled_and_left_to_spark_to_tell(bench: MakeBench) -> None:
    made = bench(failure=SparksError("task failed"))
    with pytest.raises(SparksError):
        write(made)
    assert made.steps == ["plan 3", "look", "write"]
    made.writer.check()


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (PipelineError("ledger topic x could not be written"), "ledger topic x could not be written"),
        (ProtocolError("forgotten, but was never resolved"), "batch failed: ProtocolError: forgotten"),
    ],
)
def test_a_failure_of_our_own_is_kept_for_whoever_checks(bench: MakeBench, failure: Exception, says: str) -> None:
    """Spark would say: an exception was raised by the Python proxy."""
    made = bench()
    made.lanes.written_failure = failure
    with pytest.raises(type(failure)):
        write(made)
    with pytest.raises(PipelineError, match=says):
        made.writer.check()


def test_the_slow_lanes_failure_comes_before_what_follows_from_it(bench: MakeBench) -> None:
    made = bench()
    made.lanes.written_failure = PipelineError("the wait for room in the ledger was ended")
    with pytest.raises(PipelineError):
        write(made)
    made.lanes.failure = PipelineError("slow lane failed: worker exited")
    with pytest.raises(PipelineError, match="slow lane failed"):
        made.writer.check()


def held(monkeypatch: pytest.MonkeyPatch, made: Bench) -> None:
    """Who is held ends, and the test goes on."""

    def end(_spark: Any) -> None:
        made.steps.append("held")
        raise HeldError("stopped")

    monkeypatch.setattr(module, "hold", end)


def test_after_a_stop_no_batch_writes_anything(bench: MakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench()
    held(monkeypatch, made)
    write(made, 3)
    made.writer.drain()
    assert (made.writer.writing, made.writer.is_held, made.writer.rounds) == (None, False, 2)
    with pytest.raises(HeldError):
        write(made, 4)
    assert made.steps == ["plan 3", "look", "write", "written 3", "lanes stopped", "plan 4", "held"]
    assert (made.writer.writing, made.writer.is_held) == (None, True)
    made.writer.check()
    assert made.writer.batch is None, "nobody waits for its commit"


def test_a_wait_for_room_that_a_stop_ends_is_no_failure(bench: MakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench()
    held(monkeypatch, made)
    made.writer.drain()
    made.lanes.plan_failure = PipelineError("the wait for room in the ledger was ended")
    with pytest.raises(HeldError):
        write(made)
    assert made.steps[-1] == "held"
    assert made.writer.is_held
    made.writer.check()


def test_a_batch_that_began_before_the_stop_is_finished(bench: MakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench()
    writing: list[int | None] = []

    def write_and_stop(*_: Any) -> None:
        made.writer.drain()
        writing.append(made.writer.writing)

    monkeypatch.setattr(module, "write", write_and_stop)
    write(made)
    assert writing == [3]
    assert made.steps == ["plan 3", "look", "lanes stopped", "written 3"]
    assert (made.writer.writing, made.writer.is_held) == (None, False)


def test_a_batch_that_fails_after_the_stop_has_failed(bench: MakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench()
    held(monkeypatch, made)

    def stop_and_fail(*_: Any) -> None:
        made.writer.drain()
        raise PipelineError("ledger topic x could not be written")

    monkeypatch.setattr(module, "write", stop_and_fail)
    with pytest.raises(PipelineError):
        write(made)
    assert "held" not in made.steps
    with pytest.raises(PipelineError, match="could not be written"):
        made.writer.check()


@pytest.mark.parametrize(
    ("reuse", "done"),
    [("off", []), ("released", [("persist",), ("unpersist",)]), ("cached", [("persist",)])],
)
def test_a_batch_that_is_kept_and_fails_is_released_unless_the_incidents_policy_forgets_to(
    reuse: Reuse, done: list[tuple[str]]
) -> None:
    frame = Frame()
    given: Any = frame

    def fails() -> None:
        with reused(given, reuse) as rows:
            assert rows is given
            raise OSError("the broker is gone")

    with pytest.raises(OSError, match="gone"):
        fails()
    assert frame.done == done
