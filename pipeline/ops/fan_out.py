"""A topic copied into one with more partitions, by page: so that more slots can work on it, and a page keeps its order.

The key becomes that of the page, whatever it was, and the page's events of one source partition stay in their order.
Key, time and place of a copy are functions of the record, so a second run into a fresh topic makes the same one.
"""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import orjson
from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import KafkaError, for_code

from pipeline.errors import PipelineError, RefusedError
from pipeline.kafka.cluster import BrokersAt, connected
from pipeline.kafka.errors import broker_failure
from pipeline.kafka.record_quirks import record_time_ms
from pipeline.ops.copying import Copy
from pipeline.ops.source import Bounds, SourceRecord
from pipeline.records.record import Position

PLACE_HEADER = "copied-from"
_DEADLINE_MS = 30_000
_OF_TOPIC = "DYNAMIC_TOPIC_CONFIG"


def page_key(record: SourceRecord) -> bytes | None:
    """The key of the event's page; the record's own when it names none, so that nothing is left behind."""
    try:
        event = orjson.loads(record.value or b"")
        wiki_id, page_id = event["wiki_id"], event["page"]["page_id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return record.key
    if isinstance(page_id, float) and page_id.is_integer():
        page_id = int(page_id)  # to JSON Schema 5.0 is an integer too
    if not isinstance(wiki_id, str) or isinstance(page_id, bool) or not isinstance(page_id, int):
        return record.key
    try:
        return orjson.dumps({"wiki_id": wiki_id, "page_id": page_id})
    except orjson.JSONEncodeError:
        return record.key  # a number beyond 64 bits


def copied(record: SourceRecord, topic: str) -> Copy:
    """Its time stays: the copy takes the place of the topic, and is asked what was when. A timestamp that is no time
    becomes 0, as a broker may refuse what another one took.
    """
    place = Position(topic, record.partition, record.offset)
    headers = (*record.headers, (PLACE_HEADER, str(place).encode()))
    return Copy(page_key(record), record.value, headers, timestamp_ms=record_time_ms(record.timestamp_ms) or 0)


def require_target(bounds: Bounds, topic: str, partitions: int) -> None:
    """Raises RefusedError when a topic that is there is not the empty one that would have been made."""
    if len(bounds.end) != partitions:
        raise RefusedError(
            f"topic {topic} is there with {len(bounds.end)} partitions, not {partitions}",
            hint="say --partitions as it is, or name a topic that is not there",
        )
    count = sum(bounds.end[partition] - first for partition, first in bounds.first.items())
    if count:
        raise RefusedError(
            f"topic {topic} holds {count} records: a copy on top of them would repeat events, out of their order",
            hint="delete what an interrupted run has written, or name another topic",
        )


def make_target(bootstrap: BrokersAt, source: str, target: str, partitions: int) -> None:
    """Make the topic with the settings that the source has of its own, unless it is there.

    Raises RefusedError for one that the broker will not make, PipelineError.
    """
    try:
        with closing(connected(KafkaAdminClient, bootstrap)) as admin:
            if any(existing["name"] == target and existing["partitions"] for existing in admin.describe_topics()):
                return
            settings = _own_settings(admin, source)
            new = NewTopic(target, num_partitions=partitions, replication_factor=-1, topic_configs=settings)
            # Its own errors hold the whole request; the answer has the broker's sentence.
            answer = admin.create_topics([new], timeout_ms=_DEADLINE_MS, raise_errors=False)
            require_made(answer, f"topic {target} at {bootstrap}")
            admin.wait_for_topics([target])
    except (KafkaError, OSError) as error:
        raise broker_failure(f"topic {target} at {bootstrap} could not be made", error) from error


def require_made(answer: Mapping[str, Any], place: str) -> None:
    """Raises RefusedError with what the broker says, PipelineError when it may do it later."""
    for topic in answer["topics"]:
        if not topic["error_code"]:
            continue
        error = for_code(topic["error_code"])
        problem = f"{place} could not be made: {topic['error_message'] or error.description}"
        if error.retriable:
            raise PipelineError(problem)
        raise RefusedError(problem, hint="look at DST and --partitions, and at what the broker allows")


def _own_settings(admin: KafkaAdminClient, topic: str) -> dict[str, str]:
    """The settings of the topic itself; those that it inherits from the brokers, the copy inherits too."""
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    described = admin.describe_configs([resource], config_filter=ConfigFilterType.DYNAMIC)
    return {
        name: str(setting["value"])
        for name, setting in described["topic"][topic].items()
        if setting["config_source"] == _OF_TOPIC
    }
