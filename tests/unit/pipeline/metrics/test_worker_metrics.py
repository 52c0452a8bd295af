"""What a worker counts of its messages and requests, and when it tells the driver."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import orjson
import pyarrow as pa
import pytest
from pyspark import TaskContext, cloudpickle

from pipeline.jobs.message import Unfinished
from pipeline.metrics import worker_metrics
from pipeline.metrics.catalogue import (
    EVENTS,
    FETCH_SECONDS,
    FETCHES,
    IN_FLIGHT_PEAK,
    RECORD_SECONDS,
    WORKER_MEMORY,
)
from pipeline.metrics.measurements import Measurements, Recorder
from pipeline.metrics.worker_metrics import Measured, measured_request, reporting
from pipeline.records.error_event import Failure
from pipeline.records.record import Record
from tests.unit.pipeline.making import make_config

CLAIM = ("claim-check-key", b"k")


class Settles:
    """A task whose outcome says which record leaves."""

    async def process(self, message: Record | None) -> Record | None:
        return message

    def settle(self, message: Record | None, outcome: object) -> Record | None:
        return message


def record(topic: str, *headers: tuple[str, bytes]) -> Record:
    return Record(topic, b"", orjson.dumps({"error_type": "revision_not_found"}), headers)


def counts(measurements: Measurements) -> dict[tuple[str, ...], float]:
    return {(name, *labels): count for (name, labels), count in measurements.counts.items()}


def test_messages_are_counted_by_what_became_of_them() -> None:
    config, recorder = make_config(), Recorder()
    task: Measured[Record | None, Record | None] = Measured(Settles(), config, recorder)
    sink = config.sink
    messages = [
        record(sink.topic),
        record(sink.topic, CLAIM),
        record(sink.error_topic),
        record(config.deferral.topic),
        None,
    ]
    for message in messages:
        outcome = asyncio.run(task.process(message))
        assert task.settle(message, outcome) is message
    measurements = recorder.drain()
    assert counts(measurements) == {
        (EVENTS.name, "output"): 2,
        (EVENTS.name, "error"): 1,
        (EVENTS.name, "deferred"): 1,
        (EVENTS.name, "filtered"): 1,
        ("enrichment_errors", "revision_not_found"): 1,
        ("enrichment_claim_checks",): 1,
    }
    assert sum(measurements.histograms[RECORD_SECONDS.name, ()].counts) == len(messages)


def test_fetch_failures_count_as_errors_and_topics_of_parts_as_outputs() -> None:
    config, recorder = make_config(job="rdf-resolve"), Recorder()
    task: Measured[Record | None, Record | None] = Measured(Settles(), config, recorder)
    assert config.sink.fetch_failure_topic is not None
    failure = Record(config.sink.fetch_failure_topic, b"", orjson.dumps({"exception_type": "fetch_failed"}), ())
    for message in (failure, record("of a part")):
        task.settle(message, message)
    assert counts(recorder.drain()) == {
        (EVENTS.name, "error"): 1,
        (EVENTS.name, "output"): 1,
        ("enrichment_errors", "fetch_failed"): 1,
    }


@pytest.mark.parametrize(
    ("outcome", "timed"),
    [
        (Unfinished(Failure("waits", "waits for its page")), 0),
        (Unfinished(Failure("breaker_open", "not asked"), tried=False), 0),
        (Unfinished(Failure("deadline_exceeded", "it takes long")), 1),
    ],
)
def test_an_event_that_was_not_tried_takes_no_time(outcome: Unfinished, timed: int) -> None:
    class Answers(Settles):
        async def process(self, message: Any) -> Any:
            return outcome

    recorder = Recorder()
    task: Measured[Any, Any] = Measured(Answers(), make_config(), recorder)
    assert asyncio.run(task.process(None)) is outcome
    found = recorder.drain().histograms.get((RECORD_SECONDS.name, ()))
    assert (sum(found.counts) if found else 0) == timed


def test_an_entry_that_stands_is_not_counted_again() -> None:
    recorder = Recorder()
    task: Measured[None, Any] = Measured(Settles(), make_config(), recorder)
    assert task.settle(None, object()) is None
    assert recorder.drain() == Measurements()


class FailedTry:
    pass


async def answer(what: object) -> object:
    if isinstance(what, BaseException):
        raise what
    return what


@pytest.mark.parametrize(
    ("what", "outcome"),
    [
        ("body", "ok"),
        (FailedTry(), "failed"),
        (ValueError(), "refused"),
        (TimeoutError(), "abandoned"),
        (asyncio.CancelledError(), "abandoned"),
    ],
)
def test_requests_are_counted_by_how_they_ended(what: object, outcome: str) -> None:
    recorder = Recorder()
    request: Callable[[object], Awaitable[object]] = measured_request(failed=FailedTry, recorder=recorder)(answer)

    async def ask() -> None:
        (got,) = await asyncio.gather(request(what), return_exceptions=True)
        assert type(got) is type(what)

    asyncio.run(ask())
    measurements = recorder.drain()
    assert counts(measurements) == {(FETCHES.name, outcome): 1}
    assert sum(measurements.histograms[FETCH_SECONDS.name, ()].counts) == 1
    assert recorder.drain().levels == {}, "something is in flight still"


def test_requests_in_flight_at_once() -> None:
    recorder = Recorder()

    async def ask() -> None:
        barrier = asyncio.Barrier(3)

        @measured_request(failed=FailedTry, recorder=recorder)
        async def meet() -> None:
            await barrier.wait()

        await asyncio.gather(meet(), meet(), meet())
        await asyncio.gather(answer(1), answer(2))

    asyncio.run(ask())
    assert recorder.drain().level((IN_FLIGHT_PEAK.name, ())) == 3


class Accumulator:
    """Spark's, as far as a task sees it."""

    def __init__(self) -> None:
        self.added: list[Measurements] = []

    def add(self, measurements: Measurements) -> None:
        self.added.append(measurements)


def test_figures_go_to_the_driver_once_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, accumulator = Recorder(), Accumulator()
    monkeypatch.setattr(worker_metrics, "RECORDER", recorder)
    batch = pa.RecordBatch.from_pydict({"a": [1]})

    def function(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for one in batches:
            recorder.count(FETCHES, "ok")
            yield one

    recorder.count(FETCHES, "refused")  # of a task that failed
    for _ in range(2):
        results = reporting(function, accumulator)(iter([batch, batch]))  # type: ignore[arg-type]
        before = len(accumulator.added)
        assert [next(results), next(results)] == [batch, batch]
        assert len(accumulator.added) == before
        assert list(results) == []
    assert [counts(measurements) for measurements in accumulator.added] == [{(FETCHES.name, "ok"): 2}] * 2


def test_a_level_says_of_which_worker_and_stage_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_metrics, "RECORDER", Recorder())
    monkeypatch.setattr(TaskContext, "get", lambda: SimpleNamespace(stageId=lambda: 5))
    accumulator, pid = Accumulator(), [4711, 4711, 4712]
    monkeypatch.setattr(worker_metrics.os, "getpid", lambda: pid.pop())
    for _ in range(3):
        list(reporting(lambda batches: batches, accumulator)(iter([])))  # type: ignore[arg-type]
    origins = [origin for measurements in accumulator.added for origin in measurements.levels[WORKER_MEMORY.name, ()]]
    assert [origin.stage for origin in origins] == [5, 5, 5]
    other, first, again = [origin.worker for origin in origins]
    assert first == again != other


def test_what_spark_pickles_refers_to_this_module() -> None:
    """A recorder that travels along would be another one in each batch, and nobody would count in it."""
    function = cloudpickle.loads(cloudpickle.dumps(reporting(iter, Accumulator())))  # type: ignore[arg-type]
    assert function.func is worker_metrics._report
