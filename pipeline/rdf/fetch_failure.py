"""What a failed fetch of an operation's revisions comes to: an event of `FETCH_FAILURE_URI`, in a topic of its own.

    {"$schema": "/rdf_streaming_updater/fetch_failure/1.2.0", "meta": {...}, "item": "Q42", "op_type": "diff",
     "revision_id": 124, "from_revision_id": 123, "fetch_error_type": "ENTITY_NOT_FOUND",
     "exception_type": "revision_not_found", "exception_msg": "revision 124: status 404", ...}

`exception_type` is the error type (`pipeline.records.error_types`). The original event is the operation, which entered
when its record was appended. Id and times are functions of the operation and its record, so that a replay repeats the
event byte for byte.
"""

import uuid
from collections.abc import Mapping
from types import MappingProxyType

import orjson

from pipeline.jobs.message import SourceMessage
from pipeline.rdf.operation import Operation
from pipeline.records.error_event import Failure, bounded_message, rfc3339
from pipeline.records.error_types import ErrorType
from pipeline.schemas import FETCH_FAILURE_URI, OPERATION_URI

# An answer without content is tried again, so NO_CONTENT and EMPTY_RESPONSE do not occur: what remains is that no try
# succeeded.
FETCH_ERROR_TYPES: Mapping[ErrorType, str] = MappingProxyType(
    {
        "revision_not_found": "ENTITY_NOT_FOUND",
        "access_denied": "UNEXPECTED_RESPONSE",
        "content_refused_by_upstream": "UNEXPECTED_RESPONSE",
        "body_too_large": "UNEXPECTED_RESPONSE",
        "invalid_body": "UNEXPECTED_RESPONSE",
        "upstream_error": "UNEXPECTED_RESPONSE",
        "unknown_wiki": "UNKNOWN",
        "fetch_failed": "UNKNOWN",
        "deadline_exceeded": "UNKNOWN",
        "breaker_open": "UNKNOWN",
        "batch_budget": "UNKNOWN",
    }
)
"""The `fetch_error_type` of each error type that a fetch ends in."""


def fetch_failure_value(
    operation: Operation, failure: Failure, message: SourceMessage, *, topic: str, domain: str, emitter: str
) -> bytes | None:
    """The value of the record; None for a failure that is not of a fetch. `message` is the operation's, `topic` the one
    that the event is written to, `domain` the wiki's, and `emitter` the job.
    """
    if failure.error_type == "waits" or failure.error_type not in FETCH_ERROR_TYPES:
        return None
    timestamp = rfc3339(message.appended)
    event: dict[str, object] = {
        "$schema": FETCH_FAILURE_URI,
        "meta": {
            "stream": topic,
            "domain": domain,
            "id": str(uuid.uuid5(uuid.UUID(operation.id), FETCH_FAILURE_URI)),
            "request_id": operation.id,
            "dt": timestamp,
        },
        "dt": timestamp,
        "emitter_id": emitter,
        "item": operation.entity,
        "op_type": operation.op,
        "revision_id": operation.rev,
        "fetch_error_type": FETCH_ERROR_TYPES[failure.error_type],
        "exception_type": failure.error_type,
        "exception_msg": bounded_message(failure.message),
        "original_ingestion_dt": timestamp,
        "original_event_info": {
            "$schema": OPERATION_URI,
            "meta": {"stream": message.position.topic, "id": operation.id, "dt": operation.dt},
        },
    }
    if operation.from_rev is not None:
        event["from_revision_id"] = operation.from_rev
    return orjson.dumps(event)
