"""Where the limits of producer, topics and broker disagree, and what to do about it.

    a record ─▶ max.request.size ─▶ buffer.memory ─▶ socket.request.max.bytes ─▶ max.message.bytes of its topic
                └──── the producer refuses ────┘    └─ the broker hangs up ─┘   └──── the broker refuses ────┘

The pipeline measures against the first. A record that passes it and is refused behind it ends the query, and again
after each restart: so each limit further on should be no lower. That is a warning, as such a record may never come;
refused is only what leaves the job no way out: a failed event needs an error event, which has to fit.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pipeline.config.pipeline_config import PipelineConfig, Source
from pipeline.events import LimitOf
from pipeline.kafka.sink import BATCH_BYTES
from pipeline.records.error_event import (
    MAX_KEY_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_SCHEMA_CHARACTERS,
    Failure,
    error_record,
)
from pipeline.records.error_types import ERROR_TYPES
from pipeline.records.record import Headers, Position
from pipeline.records.size import serialized_size

# Producer settings of this kind are Java ints.
MOST_REQUEST_BYTES = 2**31 - 1
_LONGEST_ERROR_TYPE = max(ERROR_TYPES, key=len)


@dataclass(frozen=True, slots=True)
class Limits:
    """All effective, in bytes; None where the broker did not report it, or where a topic is not there yet.

    `source_topics` has those that are there. `broker_message` (`message.max.bytes`) is what a topic takes that has no
    limit of its own.
    """

    max_request_size: int
    buffer_memory: int
    source_topics: Mapping[str, int] = field(default_factory=dict)
    output_topic: int | None = None
    error_topic: int | None = None
    ledger_topic: int | None = None
    lapsed_topic: int | None = None
    fetch_failure_topic: int | None = None
    inconsistency_topic: int | None = None
    broker_message: int | None = None
    broker_request: int | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`text` has both values, `of` says whose limit does not fit `sink.max.request.size`. `fatal`: the job cannot work
    with it.
    """

    text: str
    hint: str
    of: LimitOf
    fatal: bool = False


def largest_error_event(config: PipelineConfig) -> int:
    """Bytes, as the producer counts them, that no error event of the job exceeds, nor what it writes in its place."""
    longest = max(config.source.all_topics, key=len)
    record = error_record(
        config.sink.error_topic,
        Failure(_LONGEST_ERROR_TYPE, "…" * (MAX_MESSAGE_BYTES // len("…".encode()))),
        position=Position(longest, 2**31 - 1, 2**63 - 1),
        event_id=str(uuid.UUID(int=0)),
        key=bytes(MAX_KEY_BYTES),
        appended=datetime.max.replace(tzinfo=UTC),
        emitter=config.job,
        stream=longest,
        schema="/" * MAX_SCHEMA_CHARACTERS,
        headers=_most_headers(config.source),
    )
    # What the message lacks to its bound because its characters are of three bytes.
    return serialized_size(record.key, record.value, record.headers) + MAX_MESSAGE_BYTES % len("…".encode())


def _most_headers(source: Source) -> Headers:
    """Headers of as many bytes as may be passed on, and at least as many of them."""
    if not source.pass_headers:
        return ()
    bare = tuple((name, b"") for name in source.pass_headers)
    return (*bare, ("", bytes(source.pass_headers_bytes)))


def largest_batch(limits: Limits, config: PipelineConfig) -> int:
    """Bytes of a batch of Spark's producer, its header included, that each topic takes that it writes to.

    A batch that its topic refuses is split into batches of that same size: with records that are small enough, for
    ever.
    """
    topics = [limits.output_topic, limits.error_topic]
    if config.sink.fetch_failure_topic is not None:
        topics.append(limits.fetch_failure_topic)
    if config.lapses:
        topics.append(limits.lapsed_topic)
    if config.sink.inconsistency_topic is not None:
        topics.append(limits.inconsistency_topic)
    if config.deferral.policy == "defer":
        topics.append(limits.ledger_topic)
    limits_known = [takes for topic in topics if (takes := _or_default(topic, limits)) is not None]
    return min(BATCH_BYTES, limits.max_request_size, *limits_known)


def disagreements(limits: Limits, config: PipelineConfig) -> list[Disagreement]:
    """The fatal ones first."""
    problems = [*_of_producer(limits), *_of_error_events(limits, config), *_of_output(limits, config)]
    problems += _of_source(limits, config)
    return sorted(problems, key=lambda problem: not problem.fatal)


def _of_producer(limits: Limits) -> list[Disagreement]:
    size = limits.max_request_size
    problems = []
    if size > MOST_REQUEST_BYTES:
        problems.append(
            Disagreement(
                f"sink.max.request.size is {size}, a producer takes at most {MOST_REQUEST_BYTES}",
                "lower it; claim checks carry what is larger",
                "producer",
                fatal=True,
            )
        )
    if limits.buffer_memory < size:
        problems.append(
            Disagreement(
                f"sink.max.request.size is {size}, the producer's buffer.memory {limits.buffer_memory}: it refuses "
                "records between the two, and the query ends",
                "lower sink.max.request.size",
                "producer",
            )
        )
    if limits.broker_request is not None and limits.broker_request < size:
        problems.append(
            Disagreement(
                f"sink.max.request.size is {size}, the broker's socket.request.max.bytes {limits.broker_request}: it "
                "hangs up on records between the two, and the query ends",
                f"lower sink.max.request.size below {limits.broker_request}, or raise the broker's limit",
                "broker",
            )
        )
    return problems


def _of_error_events(limits: Limits, config: PipelineConfig) -> list[Disagreement]:
    needed = largest_error_event(config)
    takes = dict(zip(config.sink.error_topics, (limits.error_topic, limits.fetch_failure_topic), strict=False))
    problems = []
    if limits.max_request_size < needed:
        problems.append(
            Disagreement(
                f"sink.max.request.size is {limits.max_request_size}, an error event has up to {needed} bytes: an "
                "event that fails would end the job, after each restart again",
                f"raise it to {needed} or more",
                "producer",
                fatal=True,
            )
        )
    for topic, limit in takes.items():
        topic_bytes = _or_default(limit, limits)
        if topic_bytes is None or topic_bytes >= needed:
            continue
        problems.append(
            Disagreement(
                f"error topic {topic} takes {topic_bytes} bytes (max.message.bytes), an error event has up to "
                f"{needed}: an event that fails would end the job, after each restart again",
                f"raise the topic's max.message.bytes to {needed} or more",
                "error topic",
                fatal=True,
            )
        )
    return problems


def _of_output(limits: Limits, config: PipelineConfig) -> list[Disagreement]:
    topic, size = _or_default(limits.output_topic, limits), limits.max_request_size
    if topic is None or topic >= size:
        return []
    return [
        Disagreement(
            f"sink.max.request.size is {size}, output topic {config.sink.topic} takes {topic} (max.message.bytes): "
            "the broker refuses records between the two, and the query ends, after each restart again",
            f"lower sink.max.request.size to {topic}, or raise the topic's max.message.bytes to {size}",
            "output topic",
        )
    ]


def _of_source(limits: Limits, config: PipelineConfig) -> list[Disagreement]:
    topics = limits.source_topics.items()
    return [problem for topic, limit in topics for problem in _of_source_topic(topic, limit, limits, config)]


def _of_source_topic(topic: str, source: int, limits: Limits, config: PipelineConfig) -> list[Disagreement]:
    size = limits.max_request_size
    problems = []
    if source > size:
        problems.append(
            Disagreement(
                f"source topic {topic} takes {source} (max.message.bytes), sink.max.request.size is "
                f"{size}: a source event between the two does not fit even without content, and becomes an error event",
                f"raise sink.max.request.size to more than {source}, and the output topic's max.message.bytes with it",
                "source topic",
            )
        )
    ledger = limits.ledger_topic if config.deferral.policy == "defer" else None
    if ledger is not None and ledger < min(size, source):
        problems.append(
            Disagreement(
                f"source topic {topic} takes {source} (max.message.bytes), ledger topic "
                f"{config.deferral.topic} {ledger}: a slow event between the two is given up instead of deferred",
                f"raise the ledger topic's max.message.bytes to {size}",
                "ledger topic",
            )
        )
    return problems


def _or_default(topic: int | None, limits: Limits) -> int | None:
    return limits.broker_message if topic is None else topic
