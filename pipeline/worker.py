"""What Spark calls in its Python workers: Arrow batches of source messages in, Arrow batches of records out.

Workers survive from batch to batch while pickled closures get fresh globals, so what is kept (loop, connections)
lives in this module, and Spark gets a function that only refers to it.
"""

import functools
import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from pipeline import engine
from pipeline.config import PipelineConfig
from pipeline.fetch.client import HtmlClient
from pipeline.jobs.html import HtmlEnrichment, SourceMessage
from pipeline.records.claim_check import ClaimStore
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size

ArrowBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

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

# One Arrow batch to the JVM: small enough to flow, large enough that its fixed cost does not count.
_BATCH_BYTES = 4 * 1024 * 1024
_BATCH_ROWS = 256
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@functools.cache
def _loop_thread() -> engine.LoopThread:
    return engine.LoopThread()


@functools.cache
def _job(config_json: str, concurrency: int) -> HtmlEnrichment:
    config = PipelineConfig.model_validate_json(config_json)

    async def make() -> HtmlEnrichment:
        client = HtmlClient(
            config,
            concurrency=concurrency,
            clock=time.monotonic,
            now=lambda: datetime.now(UTC),
            jitter=random.Random(),
        )
        return HtmlEnrichment(config, client, ClaimStore(config.claim_check))

    return _loop_thread().call(make)


def enrich(config: PipelineConfig, *, workers: int) -> ArrowBatches:
    """The function for `mapInArrow`; `workers` share the executor's bound on requests."""
    concurrency = max(1, config.fetch.concurrency // workers)
    return functools.partial(_enrich_batches, config.model_dump_json(by_alias=True), concurrency)


def _enrich_batches(config_json: str, concurrency: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    config = PipelineConfig.model_validate_json(config_json)
    job = _job(config_json, concurrency)
    results = engine.run(
        _messages(batches),
        job.process,
        thread=_loop_thread(),
        key_of=lambda message: (message.position.topic, message.position.partition, message.key),
        max_started=concurrency,
        buffer=engine.ResultBuffer(config.result_buffer, _size),
    )
    pending: list[Record] = []
    pending_bytes = 0
    for record in results:
        pending.append(record)
        pending_bytes += _size(record)
        if pending_bytes >= _BATCH_BYTES or len(pending) >= _BATCH_ROWS:
            yield _to_arrow(pending)
            pending, pending_bytes = [], 0
    if pending:
        yield _to_arrow(pending)


def _size(record: Record) -> int:
    return serialized_size(record.key, record.value, record.headers)


def _messages(batches: Iterator[pa.RecordBatch]) -> Iterator[SourceMessage]:
    for batch in batches:
        columns = [batch.column(name) for name in SOURCE_COLUMNS]
        columns[-1] = columns[-1].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
        for topic, partition, offset, key, value, timestamp_us in zip(*(c.to_pylist() for c in columns), strict=True):
            yield SourceMessage(Position(topic, partition, offset), key, value, _moment(timestamp_us))


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
