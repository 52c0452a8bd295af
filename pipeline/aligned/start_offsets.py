"""Where a job that reads aligned begins: worked out by the driver, and put where Spark's Kafka source puts it.

Spark asks a source of this kind again where it began for as long as its first batch is not committed, and keeps no
answer; `latest` would be another place each time.
"""

from collections.abc import Iterable, Sequence
from contextlib import closing

import orjson
from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType
from kafka.errors import KafkaError

from pipeline.aligned.horizon import Offsets
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.config.start_position import NewStart
from pipeline.errors import PipelineError, RefusedError
from pipeline.kafka.cluster import BrokersAt, connected

_ANSWER_MS = 10_000
_FETCH_BYTES = 1024
_KIND = "message.timestamp.type"


def require_event_time(bootstrap: BrokersAt, topics: Iterable[str]) -> None:
    """Raises RefusedError for topics whose records have the broker's time instead of their own. A broker that does not
    let the job ask is no reason: each record says it once more.
    """
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic, [_KIND]) for topic in topics]
    try:
        options = {"bootstrap_timeout_ms": _ANSWER_MS}
        with closing(connected(KafkaAdminClient, bootstrap, options)) as admin:
            settings_of = admin.describe_configs(resources, config_filter=ConfigFilterType.ALL).get("topic", {})
    except (KafkaError, OSError, ValueError):
        return
    unusable = sorted(
        topic for topic, settings in settings_of.items() if settings.get(_KIND, {}).get("value") == "LogAppendTime"
    )
    if unusable:
        raise RefusedError(
            f"source.read is aligned, and {_KIND} of {', '.join(unusable)} is LogAppendTime: their records do not say "
            "when an event happened, only when it arrived",
            hint=f"set {_KIND} to CreateTime, or source.read to proportional",
        )


def first_offsets(bootstrap: BrokersAt, topics: Sequence[str], new: NewStart) -> Offsets:
    """The offset of each partition at which a new start begins, chosen as Spark's own source does. Raises
    PipelineError.
    """
    log = KafkaLog(bootstrap, "enrichment-planner", fetch_bytes=_FETCH_BYTES)
    try:
        bounds = log.bounds(topics)
        if new.timestamp_ms is None:
            return {partition: start if new.name == "earliest" else end for partition, (start, end) in bounds.items()}
        records = log.first_at(dict.fromkeys(bounds, new.timestamp_ms))
    finally:
        log.close()
    # A partition without an event at or after that time begins at its end.
    return {
        partition: end if (at := records.get(partition)) is None else at.offset
        for partition, (_, end) in bounds.items()
    }


def offsets_text(by_topic: dict[str, dict[str, int]]) -> str:
    """A file of where a job began, as Spark's Kafka source writes it: with a byte 0 in front."""
    return f"\0v1\n{orjson.dumps(by_topic).decode()}"


def read_offsets(text: str) -> dict[str, dict[str, int]]:
    """Raises PipelineError for a file in another form."""
    try:
        offsets: dict[str, dict[str, int]] = orjson.loads(text.strip().splitlines()[-1])
    except (orjson.JSONDecodeError, IndexError) as error:
        raise PipelineError(f"sources/0/0 of the checkpoint does not say where the job began: {error}") from error
    return offsets
