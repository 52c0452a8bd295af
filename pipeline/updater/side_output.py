"""What does not end in an operation alone: events that came too late, and those that do not fit an entity's state.

Id and time of a record are functions of the job, of the event's id and of its position in the source, so a batch that
is run again repeats it. Both are events of the updater's public schemas, and have nothing of an event's text but ids.
"""

import uuid
from dataclasses import dataclass

import orjson

from pipeline.records.error_event import rfc3339
from pipeline.records.event_id import event_id_headers
from pipeline.records.record import Record
from pipeline.schemas import RDF_LAPSED_URI, STATE_INCONSISTENCY_URI
from pipeline.updater.source_event import SourceEvent, moment
from pipeline.updater.transitions import Inconsistency

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:rdf-side-output")


@dataclass(frozen=True, slots=True)
class LapsedAction:
    """An event that came when its time to be put in order was over. It changes nothing."""

    event: SourceEvent


@dataclass(frozen=True, slots=True)
class StateInconsistency:
    """An event that is left out, or was followed in doubt, beside a `last` seen revision as `decide` had it."""

    event: SourceEvent
    inconsistency: Inconsistency
    last: int


def side_record(output: LapsedAction | StateInconsistency, *, topic: str, emitter: str) -> Record:
    """The record for `topic`, under the entity as key; `emitter` names the job."""
    event = output.event
    uri = RDF_LAPSED_URI if isinstance(output, LapsedAction) else STATE_INCONSISTENCY_URI
    name = " ".join(filter(None, (uri, emitter, str(event.position), event.event_id)))
    dt, appended = rfc3339(moment(event.time_ms)), rfc3339(moment(event.appended_ms))
    request = {} if event.request_id is None else {"request_id": event.request_id}
    source_id = {} if event.event_id is None else {"id": event.event_id}
    value: dict[str, object] = {
        "$schema": uri,
        "meta": {
            "stream": topic,
            "id": str(uuid.uuid5(_NAMESPACE, name)),
            "dt": appended,
            "domain": event.domain,
            **request,
        },
        "emitter_id": emitter,
        "item": event.entity,
        "action_type": event.action,
        "revision_id": event.rev,
        "original_ingestion_dt": appended,
        "original_event_info": {
            "$schema": event.schema,
            "dt": dt,
            "meta": {"stream": event.stream, "dt": dt, "domain": event.domain, **source_id, **request},
        },
    }
    if event.parent is not None:
        value["parent_revision_id"] = event.parent
    if isinstance(output, StateInconsistency):
        value |= {"inconsistency": output.inconsistency, **_state(output.last)}
    return Record(
        topic, event.entity.encode(), orjson.dumps(value), event.position.headers() + event_id_headers(event.event_id)
    )


def _state(last: int) -> dict[str, object]:
    if last == 0:
        return {"state_status": "UNDEFINED"}
    return {"state_status": "CREATED" if last > 0 else "DELETED", "state_revision_id": abs(last)}
