"""The steps of a micro-batch, with a data frame that notes what is done to it and lanes that do what the test says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline import batch as module
from pipeline import worker
from pipeline.batch import BatchWriter
from pipeline.config import Breaker, PipelineConfig
from pipeline.deferral.entry import Entry
from pipeline.deferral.ledger import ProtocolError
from pipeline.deferral.snapshot import Fence, Snapshot
from pipeline.errors import PipelineError
from pipeline.fetch import breakers
from pipeline.fetch.breaker import Ask, Opened
from pipeline.metrics import in_worker
from pipeline.progress import Progress
from pipeline.stall import StalledError, StallWatch
from pipeline.stop import HeldError
from tests.unit.pipeline.deferral.making import entry


@dataclass
class Frame:
    """Partitions of the source, and slots of Spark."""

    partitions: int = 2
    slots: int = 4
    done: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def rdd(self) -> Any:
        return SimpleNamespace(getNumPartitions=lambda: self.partitions)

    @property
    def sparkSession(self) -> Any:  # noqa: N802 — Spark's name
        return SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=self.slots))

    def select(self, *columns: str) -> "Frame":
        assert columns == worker.SOURCE_COLUMNS
        return self

    def coalesce(self, tasks: int) -> "Frame":
        self.done.append(("coalesce", tasks))
        return self

    def unionByName(self, other: list[Entry]) -> "Frame":  # noqa: N802
        self.done.append(("union", [one.position.offset for one in other]))
        return self

    def repartition(self, *by: Any) -> "Frame":
        self.done.append(("repartition", *by))
        return self

    def sortWithinPartitions(self, *by: str) -> "Frame":  # noqa: N802
        self.done.append(("sort", *by))
        return self

    def mapInArrow(self, function: Any, _schema: str) -> Any:  # noqa: N802
        return function


class Rows(list[Entry]):
    def select(self, *_columns: str) -> "Rows":
        return self


@dataclass
class Lanes:
    """Claims what it is given; `steps` are shared with the sink."""

    steps: list[str]
    reservations: Sequence[Entry] = ()
    failure: Exception | None = None
    written_failure: Exception | None = None
    plan_failure: Exception | None = None
    epoch: int = 5
    limit_bytes: int = 777
    watch: StallWatch | None = None
    opened: Sequence[Opened] = ()

    def plan(self, number: int) -> Snapshot:
        assert self.watch is not None
        assert self.watch.batch is None, "the wait for room is not the batch's"
        self.steps.append(f"plan {number}")
        if self.plan_failure:
            raise self.plan_failure
        return Snapshot(Fence({}, frozenset(), {}), tuple(self.reservations))

    def written(self, snapshot: Snapshot, number: int, opened: Sequence[Opened] = ()) -> None:
        self.steps.append(f"written {number}")
        self.opened = opened
        if self.written_failure:
            raise self.written_failure

    def check(self) -> None:
        if self.failure:
            raise self.failure

    @property
    def rounds(self) -> int:
        return 2

    def stop(self) -> None:
        self.steps.append("lanes stopped")


class Accumulated:
    """An accumulator; what tasks add stands in `told`, once."""

    def __init__(self, told: list[Opened]) -> None:
        self.told = told
        self._value: list[Opened] = []

    @property
    def value(self) -> list[Opened]:
        return self._value + self.told

    @value.setter
    def value(self, value: list[Opened]) -> None:
        self._value = value


@dataclass
class Bench:
    writer: BatchWriter
    watch: StallWatch
    lanes: Lanes
    steps: list[str]
    functions: list[Any]
    now: list[float]
    told: list[Opened]


MakeBench = Callable[..., Bench]


@pytest.fixture
def bench(make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch) -> MakeBench:
    def make(*reservations: Entry, failure: Exception | None = None, **deferral: Any) -> Bench:
        steps: list[str] = []
        functions: list[Any] = []
        now = [0.0]
        told: list[Opened] = []
        watch = StallWatch(10, lambda: now[0])
        lanes = Lanes(steps, reservations, watch=watch)

        def write(function: Any, _sink: Any) -> None:
            steps.append("write")
            functions.append(function)
            assert watch.batch is not None
            if failure:
                raise failure

        monkeypatch.setattr(module, "_lanes", lambda *_: lanes)
        monkeypatch.setattr(module, "write", write)
        monkeypatch.setattr(module, "accumulated_list", lambda _: Accumulated(told))
        monkeypatch.setattr(module, "entry_rows", lambda _, entries: Rows(entries))
        config = make_config(deferral=deferral, fetch={"concurrency": 40})
        spark: Any = None
        return Bench(BatchWriter(spark, config, watch), watch, lanes, steps, functions, now, told)

    return make


def write(made: Bench, number: int = 3, frame: Frame | None = None) -> Frame:
    frame = frame or Frame()
    given: Any = frame
    made.writer.write(given, number)
    return frame


def main_lane(function: Any) -> Any:
    """The lane's function in the one that reports breakers."""
    assert function.func is breakers._report
    inner, settings, _told = function.args
    assert settings == Breaker()
    assert inner.func is worker._main_lane
    return inner


def concurrency_in(config_json: str) -> int:
    """What a worker is given of the bound on requests."""
    return PipelineConfig.model_validate_json(config_json).fetch.concurrency


def test_a_batch_is_planned_written_and_settled(bench: MakeBench) -> None:
    made = bench()
    frame = write(made)
    assert made.steps == ["plan 3", "write", "written 3"]
    assert frame.done == [("coalesce", 2)], "each source partition is a task, which keeps its order"
    (function,) = made.functions
    (config_json, fence, target) = main_lane(function).args
    assert (concurrency_in(config_json), fence) == (20, Fence({}, frozenset(), {}))
    assert (target.epoch, target.batch, target.limit_bytes) == (5, 3, 777)


def test_reservations_join_their_pages_in_one_task_and_in_order(bench: MakeBench) -> None:
    made = bench(entry(7), entry(9))
    assert write(made).done == [
        ("coalesce", 2),
        ("union", [7, 9]),
        ("repartition", 2, "topic", "partition", "key"),
        ("sort", "topic", "partition", "offset"),
    ]


@pytest.mark.parametrize(("partitions", "slots", "share"), [(1, 4, 40), (2, 4, 20), (8, 5, 10), (0, 4, 40), (1, 1, 40)])
def test_tasks_at_once_share_the_bound_on_requests(bench: MakeBench, partitions: int, slots: int, share: int) -> None:
    made = bench()
    write(made, frame=Frame(partitions, slots))
    assert concurrency_in(main_lane(made.functions[0]).args[0]) == share


def test_what_the_tasks_found_to_be_unhealthy_is_settled_with_the_batch(bench: MakeBench) -> None:
    made = bench()
    opened = Opened("enwiki", 20, 12, "status 503", (Ask("/w/rest.php/v1/revision/1/html", "event:latest"),))
    made.told.append(opened)
    write(made)
    assert made.lanes.opened == [opened]


@pytest.mark.parametrize(
    ("deferral", "tasks"), [({}, 3), ({"slow_lane": {"rounds": 3}}, 1), ({"slow_lane": {"rounds": 4}}, 1)]
)
def test_a_slow_round_finds_a_slot_of_its_own(bench: MakeBench, deferral: dict[str, Any], tasks: int) -> None:
    assert write(bench(**deferral), frame=Frame(partitions=8, slots=4)).done == [("coalesce", tasks)]


def test_without_slow_rounds_all_slots_are_the_batchs(bench: MakeBench) -> None:
    assert write(bench(policy="none"), frame=Frame(partitions=4, slots=4)).done == [("coalesce", 4)]


def test_a_batch_with_news_of_few_partitions_leaves_the_others_their_share(bench: MakeBench) -> None:
    """Else a worker's bounds, and with them its connections, would change from batch to batch."""
    made = bench()
    made.writer.committed(Progress(0, 9, {}, {0: 5, 1: 5, 2: 5}))
    write(made, frame=Frame(partitions=1, slots=4))
    assert concurrency_in(main_lane(made.functions[0]).args[0]) == 40 // 3


def test_reservations_join_what_is_coalesced(bench: MakeBench) -> None:
    assert write(bench(entry(7)), frame=Frame(partitions=8, slots=4)).done == [
        ("coalesce", 3),
        ("union", [7]),
        ("repartition", 3, "topic", "partition", "key"),
        ("sort", "topic", "partition", "offset"),
    ]


def test_without_deferral_nothing_is_planned(bench: MakeBench) -> None:
    made = bench(policy="none")
    write(made)
    assert made.steps == ["write"]
    assert made.functions[0].func is worker._direct


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


def test_the_next_batch_tells_that_the_last_is_committed(bench: MakeBench) -> None:
    made = bench()
    write(made, 3)
    made.now[0] = 9
    write(made, 4)
    made.now[0] = 18
    made.writer.check()


class SparksError(Exception):
    """Stands for what PySpark raises."""

    __module__ = "pyspark.errors.exceptions.captured"


def test_what_spark_fails_of_is_not_settled_and_left_to_spark_to_tell(bench: MakeBench) -> None:
    made = bench(failure=SparksError("task failed"))
    with pytest.raises(SparksError):
        write(made)
    assert made.steps == ["plan 3", "write"]
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


class Metrics:
    """What a batch tells of itself."""

    def __init__(self, steps: list[str]) -> None:
        self.figures = {"main": object(), "slow": object()}
        self._steps = steps

    def batch_written(self, seconds: float) -> None:
        assert seconds >= 0
        self._steps.append("measured")


def test_with_metrics_tasks_report_to_the_main_lanes_figures(bench: MakeBench) -> None:
    made = bench()
    metrics = Metrics(made.steps)
    made.writer._metrics = metrics  # type: ignore[assignment]
    write(made)
    assert made.steps == ["plan 3", "write", "written 3", "measured"]
    (function,) = made.functions
    assert function.func is in_worker._report
    inner, figures = function.args
    assert main_lane(inner)
    assert figures is metrics.figures["main"]


def test_a_batch_that_failed_is_not_measured(bench: MakeBench) -> None:
    made = bench(failure=RuntimeError("refused"))
    made.writer._metrics = Metrics(made.steps)  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="refused"):
        write(made)
    assert "measured" not in made.steps


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
    assert made.steps == ["plan 3", "write", "written 3", "lanes stopped", "plan 4", "held"]
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

    def write_and_stop(_function: Any, _sink: Any) -> None:
        made.writer.drain()
        writing.append(made.writer.writing)

    monkeypatch.setattr(module, "write", write_and_stop)
    write(made)
    assert writing == [3]
    assert made.steps == ["plan 3", "lanes stopped", "written 3"]
    assert (made.writer.writing, made.writer.is_held) == (None, False)


def test_a_batch_that_fails_after_the_stop_has_failed(bench: MakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench()
    held(monkeypatch, made)

    def stop_and_fail(_function: Any, _sink: Any) -> None:
        made.writer.drain()
        raise PipelineError("ledger topic x could not be written")

    monkeypatch.setattr(module, "write", stop_and_fail)
    with pytest.raises(PipelineError):
        write(made)
    assert "held" not in made.steps
    with pytest.raises(PipelineError, match="could not be written"):
        made.writer.check()
