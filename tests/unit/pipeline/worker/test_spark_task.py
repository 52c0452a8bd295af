"""From Arrow to Arrow: what Spark's Python worker does, without Spark and without a server."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Fact, Resolved
from pipeline.deferral.snapshot import Fence, Reservation
from pipeline.fetch.breakers import of_process
from pipeline.jobs.message import SourceMessage, Unfinished
from pipeline.records.error_event import Failure
from pipeline.records.record import Position, Record
from pipeline.worker import engine
from pipeline.worker import spark_task as task
from pipeline.worker.engine import LoopThread
from pipeline.worker.spark_task import (
    SOURCE_COLUMNS,
    _arrow_batches,
    _groups,
    _once_each,
    _to_arrow,
    enrich,
    enrich_around,
    messages_of,
)
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.deferral.producing import NotingProducer
from tests.unit.pipeline.worker.conftest import ATTEMPT, InTime, Work

MakeConfig = Callable[..., PipelineConfig]
MakeEvent = Callable[..., dict[str, Any]]
WHEN = datetime(2026, 3, 2, 9, 0, 0, 150_000, tzinfo=UTC)
SOURCE = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)
MESSAGES = st.builds(
    SourceMessage,
    position=st.builds(Position, st.sampled_from(["a", "b"]), st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1)),
    key=st.none() | st.binary(max_size=9),
    value=st.none() | st.binary(max_size=99),
    appended=st.datetimes(timezones=st.just(UTC)),
)


def source(messages: list[SourceMessage]) -> pa.RecordBatch:
    rows = [(m.position.topic, m.position.partition, m.position.offset, m.key, m.value, m.appended) for m in messages]
    columns = zip(*rows, strict=True) if rows else [[]] * len(SOURCE)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, SOURCE.types, strict=True)], schema=SOURCE
    )


def at(offset: int, page: str = "p") -> SourceMessage:
    return SourceMessage(Position("s", 0, offset), page.encode(), b"", WHEN)


def read(batches: list[pa.RecordBatch]) -> list[Record]:
    """Records as Spark's Kafka sink sees them."""
    return [
        Record(row["topic"], row["key"], row["value"], tuple((one["key"], one["value"]) for one in row["headers"]))
        for batch in batches
        for row in batch.to_pylist()
    ]


@given(st.lists(st.lists(MESSAGES, max_size=5), max_size=3))
def test_messages_are_read_as_they_were_written(batches: list[list[SourceMessage]]) -> None:
    assert list(messages_of(map(source, batches))) == [message for batch in batches for message in batch]


def test_headers_are_read_where_they_are_passed_on(make_config: MakeConfig) -> None:
    config = make_config(source={"pass_headers": ["traceparent"]})
    assert task.columns_of(make_config().source) == SOURCE_COLUMNS
    assert task.columns_of(config.source) == (*SOURCE_COLUMNS, "headers")
    found = [[{"key": "traceparent", "value": b"1"}, {"key": "source-offset", "value": b"2"}], [], None]
    batch = source([at(offset) for offset in range(3)])
    batch = batch.append_column("headers", pa.array(found, task.RECORD_SCHEMA.field("headers").type))
    read_back = [message.headers for message in messages_of(iter([batch]), config.source)]
    assert read_back == [(("traceparent", b"1"),), (), ()]
    assert [message.headers for message in messages_of(iter([batch]), make_config().source)] == [(), (), ()]


def timed(column: Callable[[pa.Array], pa.Array]) -> list[datetime]:
    """When a message was appended, whose column of times was changed."""
    number = SOURCE_COLUMNS.index("timestamp")
    changed = column(source([at(0)]).column(number))
    batch = source([at(0)]).set_column(number, "timestamp", changed)
    return [message.appended for message in messages_of(iter([batch]))]


@pytest.mark.parametrize("written", [pa.timestamp("us", tz="Asia/Kolkata"), pa.timestamp("ms", tz="UTC")], ids=str)
def test_a_time_is_the_same_however_it_is_written(written: pa.DataType) -> None:
    (appended,) = timed(lambda column: column.cast(written))
    assert (appended, appended.utcoffset()) == (WHEN, timedelta(0))


@pytest.mark.parametrize(
    ("microseconds", "appended"),
    [
        (None, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1000, datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
        (253_402_300_800_000_000, datetime.max.replace(tzinfo=UTC)),
        (2**63 - 1, datetime.max.replace(tzinfo=UTC)),
        (-(2**62), datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_a_time_that_no_calendar_has_does_not_end_the_job(microseconds: int | None, appended: datetime) -> None:
    """The source says null; an entry of the ledger may be of a version that wrote down the nearest time."""
    assert timed(lambda column: pa.array([microseconds], pa.int64()).cast(column.type)) == [appended]


def test_the_function_for_spark_is_small_and_refers_to_this_module(make_config: MakeConfig) -> None:
    """What it carried along would be a copy in every batch: a loop and connections of its own."""
    function = enrich(make_config(), workers=4)
    pickled = cloudpickle.dumps(function)
    assert len(pickled) < 4000
    again = cloudpickle.loads(pickled)
    assert again.func is task._direct
    assert again.args == function.args


@pytest.mark.parametrize(("bound", "workers", "share"), [(128, 1, 128), (128, 4, 32), (10, 4, 2), (2, 4, 1)])
def test_workers_share_the_executors_bound(make_config: MakeConfig, bound: int, workers: int, share: int) -> None:
    (config_json,) = enrich(make_config(fetch={"concurrency": bound}), workers=workers).args
    assert PipelineConfig.model_validate_json(config_json).fetch.concurrency == share


@pytest.fixture
def own_loop(loop_thread: LoopThread, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopThread]:
    """The worker on a loop that ends with the test, and its job closed."""
    monkeypatch.setattr(task, "_loop_thread", lambda: loop_thread)
    make = task._job.__wrapped__
    jobs: list[Any] = []

    def job(config_json: str, lane: str) -> Any:
        jobs.append(make(config_json, lane))
        return jobs[-1]

    monkeypatch.setattr(task, "_job", job)
    yield loop_thread
    for made in jobs:
        loop_thread.call(made.close)


def test_from_batches_to_batches(
    make_config: MakeConfig, make_event: MakeEvent, own_loop: LoopThread, in_time: InTime, producer: NotingProducer
) -> None:
    """Deletes pass without a fetch, canaries are filtered, the rest of the messages is broken."""
    deletes = [orjson.dumps(make_event("delete", page_id=number)) for number in range(1, 4)]
    canary = orjson.dumps(make_event("delete", meta={"domain": "canary"}))
    values = [deletes[0], canary, None, deletes[1], b"{", deletes[2]]
    messages = [SourceMessage(Position("source", 0, at), b"k", value, WHEN) for at, value in enumerate(values)]
    batches = [source(messages[:2]), source([]), source(messages[2:])]
    function = enrich(make_config(), workers=1)
    assert in_time(lambda: list(function(iter(batches)))) == [], "the task writes by itself what has an order"
    error, out = "mw_page_html_content_change_enrich.error", "mediawiki.page_html_content_change.v1"
    assert [record.topic for record in producer.records] == [out, error, out, error, out]
    assert [int(dict(record.headers)["source-offset"]) for record in producer.records] == [0, 2, 3, 4, 5]


@dataclass
class FixedJob:
    """Answers every message with a record of the same size; `first` waits until all others are done."""

    value_bytes: int
    messages: int

    def __post_init__(self) -> None:
        self._done = 0
        self._others_done = asyncio.Event()

    def hold(self, message: SourceMessage) -> None:
        """Nothing rests on it here."""

    async def process(self, message: SourceMessage, *, limit_s: float) -> Record:
        if message.position.offset == 0 and self.messages > 1:
            await self._others_done.wait()
        self._done += 1
        if self._done == self.messages - 1:
            self._others_done.set()
        return Record("out", message.key, bytes(self.value_bytes), message.position.headers())


@pytest.mark.parametrize(
    ("messages", "value_bytes", "rows"),
    [
        (0, 10, []),
        (1, 10, [1]),
        (256, 10, [256]),
        (600, 10, [256, 256, 88]),
        (5, 2 * 1024 * 1024, [2, 2, 1]),
        (3, 9 * 1024 * 1024, [1, 1, 1]),
    ],
)
def test_batches_are_bounded_in_rows_and_bytes(
    make_config: MakeConfig,
    work: Work,
    monkeypatch: pytest.MonkeyPatch,
    messages: int,
    value_bytes: int,
    rows: list[int],
) -> None:
    # Nothing leaves because it is old, however busy the machine is.
    monkeypatch.setattr(task, "_BATCH_AGE_S", 1000)
    monkeypatch.setattr(engine, "_QUIET_S", 1000)
    batch = source([at(offset, str(offset)) for offset in range(messages)])
    function = enrich(make_config(fetch={"concurrency": 1000}), workers=1)
    assert [made.num_rows for made in work(function, FixedJob(value_bytes, messages), batch)] == rows


@pytest.mark.parametrize(
    ("others", "place_of_the_first"),
    [(Position("s", 0, 1), 0), (Position("s", 1, 0), -1), (Position("t", 0, 0), -1)],
    ids=["same partition", "another partition", "another topic"],
)
def test_order_is_kept_for_topic_partition_and_key(
    make_config: MakeConfig, work: Work, producer: NotingProducer, others: Position, place_of_the_first: int
) -> None:
    """The first message is done last: the second leaves before it unless they are of the same page."""

    class Job(FixedJob):
        async def process(self, message: SourceMessage, *, limit_s: float) -> Record:
            if message.position == others:
                self._others_done.set()
            else:
                await self._others_done.wait()
            return Record("out", message.key, b"", message.position.headers())

    first = Position("s", 0, 0)
    batch = source([SourceMessage(position, b"page", b"", WHEN) for position in (first, others)])
    records = read(work(enrich(make_config(), workers=1), Job(0, 2), batch)) + producer.records
    assert records[place_of_the_first].headers == first.headers()


def test_a_job_and_its_connections_outlive_the_batch(make_config: MakeConfig, loop_thread: LoopThread) -> None:
    before = set(threading.enumerate())
    assert task._loop_thread() is task._loop_thread()
    (made,) = set(threading.enumerate()) - before
    try:
        args = enrich(make_config(), workers=1).args
        job = task._job(*args, "main")
        assert task._job(*enrich(make_config(), workers=1).args, "main") is job
        task._loop_thread().call(job.close)
    finally:
        loop = task._loop_thread().loop
        loop.call_soon_threadsafe(loop.stop)
        made.join(20)
        loop.close()
        task._loop_thread.cache_clear()
        task._job.cache_clear()


@pytest.mark.parametrize(
    ("policy", "lane", "left_alone"), [("defer", "main", True), ("defer", "slow", False), ("none", "main", False)]
)
def test_the_main_lane_leaves_a_sick_wiki_alone_where_there_is_a_place_for_its_events(
    make_config: MakeConfig,
    loop_thread: LoopThread,
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    lane: str,
    *,
    left_alone: bool,
) -> None:
    """Else what is not asked for would have to become an error event; and what the slow lane asks for always failed."""
    monkeypatch.setattr(task, "_loop_thread", lambda: loop_thread)
    config = make_config(deferral={"policy": policy})
    job = task._job.__wrapped__(config.model_dump_json(by_alias=True), lane)
    try:
        assert (job._client._breakers is of_process(config.breaker)) == left_alone
        assert (job._client._breakers._settings is not None) == left_alone
    finally:
        loop_thread.call(job.close)


@given(st.lists(st.integers(0, 3), max_size=20))
def test_repeats_that_follow_one_another_are_left_out(repeats: list[int]) -> None:
    """A batch with reservations is sorted, so all of a position stand together."""
    messages = [at(offset) for offset, count in enumerate(repeats) for _ in range(count)]
    assert list(_once_each(iter(messages))) == [at(offset) for offset, count in enumerate(repeats) if count]


@given(st.integers(0, 20), st.integers(1, 5))
def test_mini_batches_are_groups_of_one_size_and_a_rest(make_config: MakeConfig, count: int, size: int) -> None:
    config = make_config(batch={"isolation": "mini_batch", "mini_batch": size})
    groups = [list(group) for group in _groups(iter([at(offset) for offset in range(count)]), config)]
    assert [one for group in groups for one in group] == [at(offset) for offset in range(count)]
    assert [len(group) for group in groups[:-1]] == [size] * (len(groups) - 1)
    assert all(0 < len(group) <= size for group in groups[-1:])


@dataclass
class Together:
    """Answers nobody before `expected` messages are under way; `most` were at once."""

    expected: int

    def __post_init__(self) -> None:
        self._under_way: list[asyncio.Event] = []
        self.most = 0

    async def process(self, message: SourceMessage, *, limit_s: float) -> Record:
        event = asyncio.Event()
        self._under_way.append(event)
        self.most = max(self.most, len(self._under_way))
        if len(self._under_way) == self.expected:
            for one in self._under_way:
                one.set()
            self._under_way = []
        await event.wait()
        return Record("out", message.key, b"", message.position.headers())


def test_a_mini_batch_is_not_begun_before_the_last_has_ended(make_config: MakeConfig, work: Work) -> None:
    job = Together(4)
    config = make_config(batch={"isolation": "mini_batch", "mini_batch": 4}, deferral={"policy": "none"})
    batch = source([at(offset, str(offset)) for offset in range(12)])
    assert len(read(work(enrich(config, workers=1), job, batch))) == 12
    assert job.most == 4


@dataclass
class Facts:
    """Takes the place of Spark's accumulator."""

    value: list[Fact]

    def add(self, facts: list[Fact]) -> None:
        self.value += facts


def test_the_main_lane_puts_aside_what_does_not_finish(make_config: MakeConfig, work: Work) -> None:
    limits: list[float] = []

    class Job(FixedJob):
        async def process(self, message: SourceMessage, *, limit_s: float) -> Any:
            limits.append(limit_s)
            slow = Unfinished(Failure("deadline_exceeded", "slow"))
            return slow if message.position.offset == 0 else await FixedJob(0, 0).process(message, limit_s=limit_s)

    config = make_config(deferral={"topic": "ledger", "inline_allowance": "3s"})
    fence = Fence({}, frozenset(), {Position("s", 0, 0): Reservation(attempt=4, dropped=False, reason="")})
    function = enrich_around(config, fence, epoch=2, batch=6, workers=1, limit_bytes=5000)
    records = read(work(function, Job(0, 0), source([at(0), at(0), at(1), at(2, "q")])))
    assert sorted(record.topic for record in records) == ["ledger", "ledger", "out"]
    headers = [dict(record.headers) for record in records if record.topic == "ledger"]
    assert [(header["kind"], header["attempt"], header["epoch"], header["batch"]) for header in headers] == [
        (b"stuck", b"5", b"2", b"6"),
        (b"waiting", b"0", b"2", b"6"),
    ]
    assert {header["task"] for header in headers} == {b"%d" % ATTEMPT}
    assert set(limits) == {3.0}


def test_in_the_slow_lane_a_long_page_keeps_nobody_from_being_fetched(
    make_config: MakeConfig, work: Work, producer: NotingProducer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set-up: a page with more entries than requests may be under way, and one behind it. Both begin together. At first
    there is no news, which makes nothing of it.
    """
    monkeypatch.setattr(engine, "_QUIET_S", 0)
    job = Together(2)
    entries = [*(entry(offset, "long") for offset in range(5)), *(entry(5 + offset, "other") for offset in range(5))]
    facts = Facts([])
    accumulator: Any = facts
    config = make_config(deferral={"slow_lane": {"concurrency": 2}})
    function = task.process_deferred(config, entries, accumulator, epoch=4)
    batch = source([SourceMessage(one.position, one.key, one.value, WHEN) for one in entries])
    assert work(function, job, batch) == [], "the task writes by itself"
    assert [sum(one.topic == topic for one in producer.sent) for topic in ("out", config.deferral.topic)] == [10, 10]
    assert job.most == 2, "one of each page at a time"
    assert sorted(fact.position.offset for fact in facts.value if isinstance(fact, Resolved)) == list(range(10))


@pytest.mark.parametrize(("request_s", "deadline_s", "patience_s"), [(20, 120, 120), (60, 30, 60)])
def test_the_slow_lane_alone_waits_as_long_as_its_deadline(
    make_config: MakeConfig, own_loop: LoopThread, request_s: int, deadline_s: int, patience_s: int
) -> None:
    slow_lane = {"deadline": f"{deadline_s}s"}
    config = make_config(fetch={"request_timeout": f"{request_s}s"}, deferral={"slow_lane": slow_lane})
    config_json = config.model_dump_json(by_alias=True)
    fetches = [task._job(config_json, lane)._config.fetch for lane in ("main", "slow")]
    assert [fetch.request_timeout.total_seconds() for fetch in fetches] == [request_s, patience_s]
    assert {fetch.total_requests for fetch in fetches} == {config.fetch.total_requests}


def test_each_lane_has_its_own_bound_on_bytes(make_config: MakeConfig, own_loop: LoopThread) -> None:
    fetch, slow_lane = {"max_in_flight_bytes": 4000}, {"max_in_flight_bytes": 300}
    config = make_config(fetch=fetch, deferral={"slow_lane": slow_lane})
    (config_json,) = enrich(config, workers=4).args
    bounds = [task._job(config_json, lane)._client._in_flight for lane in ("main", "slow")]
    assert [bound._limit_bytes for bound in bounds] == [1000, 300]
    assert bounds == [task._in_flight(1000, "main"), task._in_flight(300, "slow")], "what records are held by"


def test_a_record_is_held_until_it_is_in_the_buffer(
    make_config: MakeConfig, work: Work, producer: NotingProducer
) -> None:
    held: list[int] = []

    class Job(FixedJob):
        async def process(self, message: SourceMessage, *, limit_s: float) -> Record:
            bound = task._in_flight(777, "main")
            with bound.joined() as holding:
                assert holding.take(10)
            held.append(bound.memory_bytes)
            return await super().process(message, limit_s=limit_s)

    function = enrich(make_config(fetch={"max_in_flight_bytes": 777}), workers=1)
    work(function, Job(0, 3), source([at(offset, "one page") for offset in range(3)]))
    assert len(producer.records) == 3
    assert max(held) == 30, "those that wait for their page's turn are held too"
    assert task._in_flight(777, "main").memory_bytes == 0


RECORDS = st.builds(
    Record,
    topic=st.sampled_from(["out", "error"]),
    key=st.none() | st.binary(max_size=9),
    value=st.binary(max_size=99),
    headers=st.lists(st.tuples(st.text(max_size=9), st.binary(max_size=9)), max_size=4).map(tuple),
)


@given(st.lists(RECORDS, max_size=9))
def test_records_arrive_as_they_left(records: list[Record]) -> None:
    batch = _to_arrow(records)
    batch.validate(full=True)
    assert batch.schema == task.RECORD_SCHEMA
    assert read([batch]) == records


OLD_AGE = 0.51 * task._BATCH_AGE_S


@pytest.mark.parametrize(
    ("groups", "seconds_between", "sizes"),
    [
        pytest.param([2, 2, 0, 1], 0, [4, 1], id="when nothing else comes"),
        pytest.param([0, 0, 0], 0, [], id="nothing at all"),
        pytest.param([1] * 9, OLD_AGE, [3, 3, 3], id="when it is old, although more comes"),
        pytest.param([600], 0, [256, 256, 88], id="many at once, in batches of a size"),
    ],
)
def test_what_is_finished_leaves(groups: list[int], seconds_between: float, sizes: list[int]) -> None:
    """`groups` are numbers of finished records; each comes so long after the one before."""
    now = [0.0]

    def coming() -> Iterator[list[Record]]:
        for count in groups:
            now[0] += seconds_between
            yield [Record("out", b"k", b"value", ())] * count

    assert [batch.num_rows for batch in _arrow_batches(coming(), lambda: now[0])] == sizes
