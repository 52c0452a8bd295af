"""What Spark calls in its Python workers: Arrow batches of source messages in, Arrow batches of records out.

Workers survive from batch to batch while pickled closures get fresh globals, so what is kept (loop, connections)
lives in this module, and Spark gets a function that only refers to it.
"""

import functools
import gc
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline.claims.removal import ClaimRemoval
from pipeline.config.pipeline_config import Kafka, PipelineConfig, Sink, Source
from pipeline.deferral.batch_budget import BatchBudget
from pipeline.deferral.entry import Entry, Page
from pipeline.deferral.lane import MainLane, Policy, SlowLane
from pipeline.deferral.snapshot import Fence, Reservation
from pipeline.deferral.task import DirectTask, LedgerTarget, MainTask, RoundWriter, Settled, SlowTask, page, page_of
from pipeline.fetch import breakers
from pipeline.fetch.client import WikiClient
from pipeline.fetch.in_flight import InFlightBytes
from pipeline.fetch.worker_bounds import config_of_worker
from pipeline.jobs import registry
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.extensions import load_extensions
from pipeline.jobs.message import Processed, SourceMessage
from pipeline.metrics.catalogue import EVENTS
from pipeline.metrics.worker_metrics import RECORDER, Measured, Task
from pipeline.records.claim_check import ClaimStore
from pipeline.records.lapsed_action import without_late
from pipeline.records.passed_headers import passed_on
from pipeline.records.record import Headers, Position, Record
from pipeline.worker import engine
from pipeline.worker.arrow import ArrowFunction
from pipeline.worker.ordered_writer import OrderedWriter, ordered_producer
from pipeline.worker.task_attempt import task_attempt
from pipeline.worker.unknown_versions import VersionsSeen, versions_of

if TYPE_CHECKING:
    from kafka import KafkaProducer
    from pyspark.accumulators import Accumulator

    from pipeline.deferral.entry import Fact


RECORD_SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary(), nullable=False),
        pa.field(
            "headers",
            pa.list_(pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.binary())])),
        ),
    ]
)
RECORD_DDL = "topic string, key binary, value binary, headers array<struct<key: string, value: binary>>"
SOURCE_COLUMNS = ("topic", "partition", "offset", "key", "value", "timestamp")
HORIZON = "horizon"
"""A column more, where the job has to know which events are late."""
COUNTED = "counted"
"""A column more, where a row stands for several events."""
DECIDED = "decided"
"""A column more, where a state before the job makes something of events: whether it has of this one."""
HEADERS = "headers"
"""A column more, where some are passed on."""

# One Arrow batch to the JVM: small enough to flow, large enough that its fixed cost does not count. What is finished
# does not wait for what is not: beside a slow page a batch goes when it is old, or when nothing else comes.
_BATCH_BYTES = 4 * 1024 * 1024
_BATCH_ROWS = 256
_BATCH_AGE_S = 0.2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# A fetch makes hundreds of objects and few cycles: at Python's own 700 an eighth of the processor's time goes into
# looking for them, through all that Spark and pandas have loaded.
_GARBAGE_OBJECTS = 10_000


@functools.cache
def _loop_thread() -> engine.LoopThread:
    gc.freeze()
    gc.set_threshold(_GARBAGE_OBJECTS)
    return engine.LoopThread()


@functools.cache
def _in_flight(limit_bytes: float, lane: str) -> InFlightBytes:  # noqa: ARG001 - each lane has its own
    return InFlightBytes(limit_bytes)


@functools.cache
def _config(config_json: str) -> PipelineConfig:
    """The configuration; a job of the user's own is known from then on."""
    load_extensions()
    return PipelineConfig.model_validate_json(config_json)


@functools.cache
def _job(config_json: str, lane: str) -> Enrichment[Any, Any]:
    config = _config(config_json)
    if lane == "slow":
        config = _patient(config)

    async def make() -> Enrichment[Any, Any]:
        client = WikiClient(
            config,
            clock=time.monotonic,
            now=lambda: datetime.now(UTC),
            jitter=random.Random(),
            in_flight=_in_flight(config.fetch.in_flight_bound, lane),
            breakers=breakers.of_process(config.breaker) if _leaves_alone(config, lane) else None,
        )
        job = registry.JOBS[config.job](config, client)
        removal = ClaimRemoval(config.claim_check) if config.claim_check.suppressed == "remove" else None
        return Enrichment(config, job, client, ClaimStore(config.claim_check), removal)

    return _loop_thread().call(make)


@functools.cache
def _producer(sink_json: str, kafka_json: str) -> "KafkaProducer":
    return ordered_producer(Sink.model_validate_json(sink_json), Kafka.model_validate_json(kafka_json))


def _ordered_writer(config: PipelineConfig) -> OrderedWriter:
    # By what it depends on: how many workers there are changes, and a producer has a thread and connections.
    parts = (part.model_dump_json(by_alias=True) for part in (config.sink, config.kafka))
    return OrderedWriter(functools.partial(_producer, *parts))


def _leaves_alone(config: PipelineConfig, lane: str) -> bool:
    """Whether unhealthy wikis are not asked. Without deferral there is nowhere to put what is not asked for; and
    the slow lane asks for what failed: a few pages that always do would look like an outage, and stop the others.
    """
    return lane == "main" and config.deferral.policy == "defer"


def _patient(config: PipelineConfig) -> PipelineConfig:
    """The configuration with which the slow lane fetches: a request may take until the deadline.

    Cutting a slow request off would only make the upstream begin again.
    """
    lane = config.deferral.slow_lane
    options = {
        "concurrency": lane.concurrency,
        "request_timeout": max(config.fetch.request_timeout, lane.deadline),
        "max_in_flight_bytes": lane.max_in_flight_bytes,
    }
    return config.model_copy(update={"fetch": config.fetch.model_copy(update=options)})


def columns_of(source: Source) -> tuple[str, ...]:
    """The columns of the source's rows that tasks need."""
    late = (HORIZON,) if source.late == "lapse" else ()
    return (*SOURCE_COLUMNS, *late, *((HEADERS,) if source.pass_headers else ()))


def enrich(config: PipelineConfig, *, workers: int) -> ArrowFunction:
    """The function for `mapInArrow` without deferral; `workers` share the executor's bound on requests."""
    return functools.partial(_direct, config_of_worker(config, workers).model_dump_json(by_alias=True))


def count_versions(config: PipelineConfig, seen: "Accumulator[list[VersionsSeen]]", *, workers: int) -> ArrowFunction:
    """A function for `mapInArrow` that leaves no rows: each of its tasks adds to `seen` what it read."""
    return functools.partial(_versions, config_of_worker(config, workers).model_dump_json(by_alias=True), seen)


def enrich_around(
    config: PipelineConfig, fence: Fence, *, epoch: int, batch: int, workers: int, limit_bytes: int
) -> ArrowFunction:
    """The function for `mapInArrow` of the main lane, with the ledger as micro-batch `batch` sees it.

    `limit_bytes` bounds a record of the ledger's topic.
    """
    target = LedgerTarget(config.deferral.topic, epoch, limit_bytes, batch)
    return functools.partial(
        _main_lane, config_of_worker(config, workers).model_dump_json(by_alias=True), fence, target
    )


def process_deferred(
    config: PipelineConfig,
    entries: Sequence[Entry],
    facts: "Accumulator[list[Fact]]",
    *,
    epoch: int,
) -> ArrowFunction:
    """A function for `mapInArrow` that does a slow round over the rows of `entries`; `facts` gets the results.

    It writes records and the tombstones of the ledger's `epoch` by itself, and yields no rows.
    """
    reservations = {entry.position: Reservation.of(entry) for entry in entries}
    return functools.partial(_slow_lane, config.model_dump_json(by_alias=True), reservations, facts, epoch)


def _versions(
    config_json: str, seen: "Accumulator[list[VersionsSeen]]", batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    _config(config_json)
    seen.add([versions_of(messages_of(batches), _job(config_json, "main").unreadable_version)])
    yield from ()


def _direct(config_json: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    config = _config(config_json)
    task = DirectTask(_job(config_json, "main"), config.fetch.deadline.total_seconds())
    return _run(config, task, batches, max_started=config.fetch.concurrency)


def _main_lane(
    config_json: str,
    fence: Fence,
    target: LedgerTarget,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    config = _config(config_json)
    policy = _policy(config)
    limit_s = min(policy.inline_allowance_s, config.fetch.deadline.total_seconds())
    task = MainTask(
        job=_job(config_json, "main"),
        lane=MainLane(fence),
        target=replace(target, task=task_attempt()),
        limit_s=limit_s,
        backoff_ms=functools.partial(policy.backoff_ms, 1),
        now_ms=_now_ms,
        budget=BatchBudget(config.effective_batch_budget.total_seconds(), limit_s),
    )
    return _run(config, task, batches, max_started=config.fetch.concurrency)


def _slow_lane(
    config_json: str,
    reservations: dict[Position, Reservation],
    facts: "Accumulator[list[Fact]]",
    epoch: int,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    config = _config(config_json)
    policy = _policy(config)
    reported: list[Fact] = []
    task = SlowTask(
        job=_job(config_json, "slow"),
        lane=SlowLane(policy),
        limit_s=policy.slow_deadline_s,
        now_ms=_now_ms,
        reservations=reservations,
        report=reported.append,
        is_over=_over_after(config.deferral.slow_lane.round_time.total_seconds()),
    )
    measured = _measured(config, task)

    def settle(message: SourceMessage, outcome: Processed) -> Settled:
        record = measured.settle(message, outcome)
        return Settled(record, reported.pop() if reported else None)

    results = engine.run(
        _once_each(messages_of(batches, config.source)),
        measured.process,
        settle,
        thread=_loop_thread(),
        key_of=page_of,
        # All are started, as most only wait for their page: the client bounds the requests.
        max_started=max(1, len(reservations)),
        buffer=engine.ResultBuffer(config.result_buffer, lambda settled: settled.size),
        ahead=False,
        around=_in_flight(_patient(config).fetch.in_flight_bound, "slow").record,
        in_turn=measured.in_turn,
    )
    writer = RoundWriter(_ordered_writer(config), config.deferral.topic, epoch)
    for settled in results:
        if settled:
            facts.add(writer.write(settled))
    yield from ()


def _policy(config: PipelineConfig) -> Policy:
    lane = config.deferral.slow_lane
    return Policy(
        inline_allowance_s=config.deferral.inline_allowance.total_seconds(),
        slow_deadline_s=lane.deadline.total_seconds(),
        total_attempts=lane.attempts,
        backoff_base_s=lane.backoff.total_seconds(),
        backoff_cap_s=lane.backoff_cap.total_seconds(),
    )


def _over_after(seconds: float, clock: Callable[[], float] = time.monotonic) -> Callable[[], bool]:
    end = clock() + seconds
    return lambda: clock() >= end


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class _Emission:
    """The output of an event, and whether it has to land behind others of its page that are not acknowledged yet, or
    in an order of its own.
    """

    record: Record
    in_order: bool


def _run(
    config: PipelineConfig,
    task: Task[SourceMessage, Processed],
    batches: Iterator[pa.RecordBatch],
    *,
    max_started: int,
) -> Iterator[pa.RecordBatch]:
    batches, repeats = _repeated_pages(batches)
    # A producer that may give up in any case goes on.
    keeps_order = config.sink.delivery_timeout is None
    measured = _measured(config, task)
    in_flight = _in_flight(config.fetch.in_flight_bound, "main")
    lapsed: list[Record] = []

    def settle(message: SourceMessage, outcome: Processed) -> _Emission | None:
        record = measured.settle(message, outcome)
        if record is None:
            return None
        # The ledger's entries have no order: the next start goes by their positions.
        is_event = record.topic != config.deferral.topic
        has_neighbours = bool(record.following) or repeats(page_of(message))
        return _Emission(record, keeps_order and is_event and has_neighbours)

    results = (
        emissions
        for group in _groups(without_late(_once_each(messages_of(batches, config.source)), config, lapsed), config)
        for emissions in engine.run(
            group,
            measured.process,
            settle,
            thread=_loop_thread(),
            key_of=page_of,
            max_started=max_started,
            buffer=engine.ResultBuffer(config.result_buffer, lambda emission: emission.record.payload_bytes),
            ahead=config.batch.page_order == "together",
            around=in_flight.record,
            in_turn=measured.in_turn,
        )
    )
    writer = _ordered_writer(config)
    yield from _arrow_batches(_others(results, writer))
    if lapsed:
        RECORDER.count(EVENTS, "lapsed", by=len(lapsed))
        if keeps_order:
            writer.send(lapsed)
        else:
            yield from _arrow_batches([lapsed])
    writer.flush()


def _others(results: Iterable[Sequence[_Emission]], writer: OrderedWriter) -> Iterator[Sequence[Record]]:
    """The records that may land in any order; the rest goes to the writer."""
    for emissions in results:
        writer.send(record for emission in emissions if emission.in_order for record in emission.record.all)
        unordered = [record for emission in emissions if not emission.in_order for record in emission.record.all]
        if unordered or not emissions:
            yield unordered


def _repeated_pages(
    batches: Iterator[pa.RecordBatch],
) -> tuple[Iterator[pa.RecordBatch], Callable[[Page], bool]]:
    """The same batches, and whether a page may have more than one event in them: each page, where there are more of
    them than one can hold.
    """
    first, second = next(batches, None), next(batches, None)
    rewound = itertools.chain((batch for batch in (first, second) if batch is not None), batches)
    if second is not None:
        return rewound, lambda _page: True
    events = Counter(_pages(first)) if first is not None else Counter[Page]()
    return rewound, lambda page: events[page] > 1


def _pages(batch: pa.RecordBatch) -> list[Page]:
    topics, partitions, keys = (batch.column(name).to_pylist() for name in ("topic", "partition", "key"))
    decided = batch.column(DECIDED).to_pylist() if DECIDED in batch.schema.names else [False] * len(batch)
    return list(map(page, topics, partitions, keys, decided))


def _measured(config: PipelineConfig, task: Task[SourceMessage, Processed]) -> Task[SourceMessage, Processed]:
    return task if config.metrics.port is None else Measured(task, config)


def _arrow_batches(
    results: Iterable[Sequence[Record]], clock: Callable[[], float] = time.monotonic
) -> Iterator[pa.RecordBatch]:
    """Records as they come, in groups; an empty one says that nothing more comes for now."""
    pending: list[Record] = []
    pending_bytes, since = 0, 0.0
    for records in itertools.chain(results, ((),)):
        for record in records:
            if not pending:
                since = clock()
            pending.append(record)
            pending_bytes += len(record.value)
            if pending_bytes >= _BATCH_BYTES or len(pending) >= _BATCH_ROWS:
                yield _to_arrow(pending)
                pending, pending_bytes = [], 0
        if pending and (not records or clock() - since >= _BATCH_AGE_S):
            yield _to_arrow(pending)
            pending, pending_bytes = [], 0


def _groups(messages: Iterator[SourceMessage], config: PipelineConfig) -> Iterator[Iterable[SourceMessage]]:
    """All messages as one group, or as mini-batches, the next of which is not begun before the last has ended."""
    if config.batch.isolation == "record":
        yield messages
        return
    while group := list(itertools.islice(messages, config.batch.mini_batch)):
        yield group


def _once_each(messages: Iterator[SourceMessage]) -> Iterator[SourceMessage]:
    """Without repeats that follow one another: a replayed batch and the ledger may both bring an event."""
    last: Position | None = None
    for message in messages:
        if message.position != last:
            yield message
        last = message.position


def messages_of(batches: Iterator[pa.RecordBatch], source: Source | None = None) -> Iterator[SourceMessage]:
    """What rows say that have `SOURCE_COLUMNS`, and those beside that matter; the headers that `source` passes on, none
    without it.
    """
    for batch in batches:
        columns = [batch.column(name) for name in SOURCE_COLUMNS[:-1]]
        columns.append(_microseconds(batch.column(SOURCE_COLUMNS[-1])))
        # Entries of the ledger among them have none.
        has_horizon = HORIZON in batch.schema.names
        columns.append(_microseconds(batch.column(HORIZON)) if has_horizon else pa.nulls(len(batch)))
        passes = source is not None and bool(source.pass_headers) and HEADERS in batch.schema.names
        columns.append(batch.column(HEADERS) if passes else pa.nulls(len(batch)))
        columns.append(batch.column(COUNTED) if COUNTED in batch.schema.names else pa.nulls(len(batch)))
        columns.append(batch.column(DECIDED) if DECIDED in batch.schema.names else pa.nulls(len(batch)))
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        for topic, partition, offset, key, value, timestamp_us, horizon_us, header_rows, events, decided in rows:
            horizon = None if horizon_us is None else _moment(horizon_us)
            headers = _passed(header_rows, source) if header_rows and source else ()
            counted = None if events is None else tuple(Position(**position_fields) for position_fields in events)
            position = Position(topic, partition, offset)
            # Null is that of a record without a time.
            appended = _moment(timestamp_us or 0)
            yield SourceMessage(position, key, value, appended, horizon, headers, counted, bool(decided))


def _passed(header_rows: list[dict[str, Any]], source: Source) -> Headers:
    pairs = ((header["key"], header["value"]) for header in header_rows)
    return passed_on(pairs, source.pass_headers, source.pass_headers_bytes)


def _microseconds(column: pa.Array) -> pa.Array:
    return column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())


def _moment(timestamp_us: int) -> datetime:
    """The time of a record, which is whatever its producer said: the nearest that can be written down."""
    try:
        return _EPOCH + timedelta(microseconds=timestamp_us)
    except OverflowError:
        return (datetime.max if timestamp_us > 0 else datetime.min).replace(tzinfo=UTC)


def _to_arrow(records: list[Record]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "topic": [record.topic for record in records],
            "key": [record.key for record in records],
            "value": [record.value for record in records],
            "headers": [[{"key": name, "value": content} for name, content in record.headers] for record in records],
        },
        schema=RECORD_SCHEMA,
    )
