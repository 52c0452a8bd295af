"""Events that came too late, as lapsed_action events: which event, how late it was, and nothing of its payload.

A stateful operator of Spark's drops what is behind its watermark before any code of the job sees it, and only a number
in the query's progress tells. What is split off before it has a record of its own, which can be counted and read again.
"""

import uuid
from collections.abc import Iterable, Iterator
from datetime import timedelta

import orjson

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.message import SourceMessage
from pipeline.records.error_event import MAX_KEY_BYTES, rfc3339
from pipeline.records.event_id import stated_id
from pipeline.records.record import Record
from pipeline.schemas import LAPSED_URI

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:lapsed-action")
_MAX_ID_CHARACTERS = 200
_MILLISECOND = timedelta(milliseconds=1)


def without_late(
    messages: Iterable[SourceMessage], config: PipelineConfig, lapsed: list[Record]
) -> Iterator[SourceMessage]:
    """The messages that are not late, in their order; for each of the others its record is added to `lapsed`."""
    if config.source.late == "process":
        yield from messages
        return
    for message in messages:
        if is_late(message, config.source.lateness):
            lapsed.append(lapsed_record(message, config))
        else:
            yield message


def is_late(message: SourceMessage, lateness: timedelta) -> bool:
    """Whether it is further behind the horizon than it may be; false where there is no horizon, or it has no time."""
    return message.horizon is not None and message.has_time and message.horizon - message.appended > lateness


def lapsed_record(message: SourceMessage, config: PipelineConfig) -> Record:
    """The record in the place of a late message. Id and time are functions of the job, of the source position and of
    the event's id, so a batch that is run again repeats it. A message without a horizon has none.
    """
    assert message.horizon is not None
    position, event_id, dt = message.position, message.event_id, rfc3339(message.appended)
    name = " ".join(filter(None, (config.job, str(position), event_id)))
    topic = config.sink.effective_lapsed_topic
    event: dict[str, object] = {
        "$schema": LAPSED_URI,
        "meta": {"stream": topic, "id": str(uuid.uuid5(_NAMESPACE, name)), "dt": dt},
        "dt": dt,
        "emitter_id": config.job,
        "source": {"topic": position.topic, "partition": position.partition, "offset": position.offset},
        "horizon": rfc3339(message.horizon),
        "behind_ms": (message.horizon - message.appended) // _MILLISECOND,
    }
    stated = stated_id(message.value)
    if stated is not None and len(stated) <= _MAX_ID_CHARACTERS:
        event["event_id"] = stated
    key = message.key if message.key is not None and len(message.key) <= MAX_KEY_BYTES else None
    return Record(topic, key, orjson.dumps(event), message.output_headers(event_id))
