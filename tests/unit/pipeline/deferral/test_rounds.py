"""A round's job around Spark's accumulators, which are the real ones, and the test's job; what its task reads, which is
what the source said; and what it writes, with a producer that notes the order of sends and acks.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any
from unittest.mock import ANY

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaTimeoutError
from pyspark import accumulators

from pipeline.config.pipeline_config import PipelineConfig, Source
from pipeline.deferral import rounds as module
from pipeline.deferral.entry import Entry, Fact, Resolved, Rewritten
from pipeline.deferral.rounds import SparkRounds, entry_table
from pipeline.deferral.task import RoundWriter, Settled, appended_us
from pipeline.deferral.wire import Tombstone, parse
from pipeline.events import OffsetsRead
from pipeline.metrics import worker_metrics
from pipeline.records.record import Record
from pipeline.worker.ordered_writer import OrderedWriter
from pipeline.worker.spark_task import SOURCE_COLUMNS, messages_of
from pipeline.worker.task_attempt import EndedTask
from tests.unit.pipeline.deferral.making import ENTRIES, entry
from tests.unit.pipeline.deferral.producing import NotingProducer

ROUND = [entry(1, stuck=True, attempt=2, reason="status 504"), entry(2)]


class Context:
    """Makes accumulators as Spark's does."""

    def __init__(self) -> None:
        # Far from the numbers of others in this process.
        self._numbers = itertools.count(10**6)

    def accumulator(self, value: Any, param: Any) -> Any:
        return accumulators.Accumulator(next(self._numbers), value, param)


Job = Callable[[Any], None]


class Frame:
    """Of entries; `run` gets the function when it is written."""

    sparkContext = Context()  # noqa: N815 — Spark's name

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.job: Job = lambda _function: None

    def select(self, *columns: str) -> "Frame":
        return self

    def coalesce(self, partitions: int) -> "Frame":
        self.steps.append(partitions)
        return self

    def mapInArrow(self, function: Any, _schema: str) -> "Frame":  # noqa: N802
        self.function = function
        return self

    @property
    def write(self) -> "Frame":
        return self

    def format(self, name: str) -> "Frame":
        assert name == "noop", "the task writes by itself"
        return self

    def mode(self, _name: str) -> "Frame":
        return self

    def save(self) -> None:
        self.job(self.function)


@pytest.fixture
def run(
    make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., list[Fact]]]:
    before = dict(accumulators._accumulatorRegistry)
    frame: Any = Frame()

    def rows(_spark: Any, entries: Sequence[Entry]) -> Frame:
        assert list(entries) == ROUND
        return frame

    def go(job: Job, measurements: Any = None) -> list[Fact]:
        monkeypatch.setattr(module, "entry_rows", rows)
        frame.job = job
        return SparkRounds(frame, make_config(), measurements).run(ROUND, epoch=3)

    yield go
    assert frame.steps == [1], "one task, in the order of the entries"
    assert dict(accumulators._accumulatorRegistry) == before, "nothing is kept of a round"


def test_what_the_task_reports_comes_back(run: Callable[..., list[Fact]]) -> None:
    facts: list[Fact] = [Resolved(one.position) for one in ROUND]

    def job(function: Any) -> None:
        inner, _ended, _ledger = function.args
        _, reservations, accumulator, epoch = inner.args
        assert epoch == 3
        known = {position.offset: (one.attempt, one.reason) for position, one in reservations.items()}
        assert known == {1: (2, "status 504"), 2: (0, "")}
        # As Spark's server does when a task has ended.
        accumulators._accumulatorRegistry[accumulator.aid] += facts

    assert run(job) == facts


@pytest.mark.parametrize("fails", [False, True])
def test_a_retried_task_is_said_and_what_spark_raises_is_raised(
    run: Callable[..., list[Fact]], capsys: pytest.CaptureFixture[str], fails: bool
) -> None:
    def job(function: Any) -> None:
        _inner, ended, _ledger = function.args
        accumulators._accumulatorRegistry[ended.aid] += [EndedTask(5, 1, (OffsetsRead("source", 0, 1, 3),))]
        if fails:
            raise RuntimeError("job aborted")

    with pytest.raises(RuntimeError, match="job aborted") if fails else nullcontext():
        run(job)
    output = json.loads(capsys.readouterr().out)
    assert output == {"at": ANY, "event": "task_retried", "attempts": 1, "read": [["source", 0, 1, 3]]}


def test_a_round_without_news_reports_to_its_figures_alone(run: Callable[..., list[Fact]]) -> None:
    measurements, seen = object(), list[Any]()
    assert run(seen.append, measurements) == []
    assert seen[0].func is worker_metrics._report
    assert seen[0].args[1] is measurements


OUTPUT = Settled(Record("out", b"p", b"html", ()), Resolved(entry(1).position))
FILTERED = Settled(None, Resolved(entry(2).position))
AGAIN = Settled(None, Rewritten(entry(3).position, 2, 99, "status 504"))
STANDS = Settled(None, None)


def writer(producer: Any) -> RoundWriter:
    return RoundWriter(OrderedWriter(lambda: producer), "ledger", epoch=5)


def test_an_entry_is_resolved_behind_the_ack_of_its_event() -> None:
    producer = NotingProducer()
    facts = writer(producer).write([OUTPUT, FILTERED, AGAIN, STANDS])
    assert facts == [OUTPUT.fact, FILTERED.fact, AGAIN.fact]
    assert [one.topic for one in producer.sent] == ["out", "ledger", "ledger"]
    assert producer.before == [0, 0, 1], "the event was acknowledged before its tombstone was sent"
    assert all(one.acked for one in producer.sent)
    items = [parse(one.key, one.value, one.headers, partition=0, offset=0) for one in producer.sent[1:]]
    assert [(item.epoch, item.position) for item in items if isinstance(item, Tombstone)] == [
        (5, entry(1).position),
        (5, entry(2).position),
    ]


def test_nothing_is_resolved_of_what_is_refused() -> None:
    producer = NotingProducer(refuses="out")
    with pytest.raises(KafkaTimeoutError):
        writer(producer).write([OUTPUT, FILTERED])
    assert [one.topic for one in producer.sent] == ["out"]


def test_columns_and_types_are_those_of_the_source() -> None:
    schema = entry_table([]).schema
    time = pa.timestamp("us", tz="UTC")
    assert schema.names == list(SOURCE_COLUMNS)
    assert schema.types == [pa.string(), pa.int32(), pa.int64(), pa.binary(), pa.binary(), time]


@given(st.lists(ENTRIES, max_size=5))
def test_a_task_reads_what_was_deferred(entries: list[Entry]) -> None:
    """Key and value may be null, which is not the same as empty; the order is that of the entries."""
    names = [name for one in entries for name, _ in one.headers]
    source = Source(bootstrap_servers="a:1", pass_headers=tuple(dict.fromkeys(names)))
    messages = list(messages_of(iter(entry_table(entries).to_batches()), source))
    assert [(m.position, m.key, m.value, dict(m.headers), m.counted) for m in messages] == [
        (e.position, e.key, e.value, dict(e.headers), e.counted) for e in entries
    ]


@pytest.mark.parametrize(
    ("microseconds", "read"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (253_402_300_799_999_999, datetime.max.replace(tzinfo=UTC)),
        (253_402_300_800_000_000, datetime.max.replace(tzinfo=UTC)),
        (2**63 - 1, datetime.max.replace(tzinfo=UTC)),
        (-(2**63), datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_a_time_that_no_calendar_has_is_the_nearest_that_can_be_said(microseconds: int, read: datetime) -> None:
    (message,) = messages_of(iter(entry_table([entry(1, appended_us=microseconds)]).to_batches()))
    assert message.appended == read


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_goes_around_unchanged(moment: datetime) -> None:
    microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution)
    (message,) = messages_of(iter(entry_table([entry(1, appended_us=microseconds)]).to_batches()))
    assert appended_us(message) == microseconds
