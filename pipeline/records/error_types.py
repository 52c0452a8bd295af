"""Every class of error event that there is, and when an event ends in it: `error_type` is always one of these names.

What a fetch meets and may meet differently later (a status, a broken connection) is not among them while the event may
still be tried again; the class of the last try is.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

ErrorType = Literal[
    "malformed_json",
    "schema_violation",
    "unknown_schema",
    "unknown_schema_version",
    "source_event_too_large",
    "record_without_time",
    "unknown_wiki",
    "revision_not_found",
    "access_denied",
    "content_refused_by_upstream",
    "body_too_large",
    "invalid_body",
    "upstream_error",
    "fetch_failed",
    "deadline_exceeded",
    "breaker_open",
    "batch_budget",
    "dropped_by_operator",
]

ERROR_TYPES: Mapping[ErrorType, str] = MappingProxyType(
    {
        "malformed_json": "The source message is not JSON, or nested too deeply to be passed on, or it has an integer "
        "beyond 64 bits.",
        "schema_violation": "The source message does not fit the schema of page change events; the message says where.",
        "unknown_schema": "`$schema` names another schema than that of page change events.",
        "unknown_schema_version": "`$schema` names a major version of the schema that the job cannot read. In more "
        "than 1 % of a batch of 100 events or more they stop the job.",
        "source_event_too_large": "The event does not fit into a record even without content, its key is larger than "
        "16 KiB, or it is too large to be deferred.",
        "record_without_time": "The timestamp of the record is no time between 1970 and 9999, and `edit-counts` counts "
        "by windows of event time.",
        "unknown_wiki": "The event names a wiki that `mediawiki.wikis` does not have.",
        "revision_not_found": "The wiki does not know the revision.",
        "access_denied": "The wiki does not show the revision: status 403, an error code, or its text is hidden.",
        "content_refused_by_upstream": "The wiki does not give the content, which is larger than its own answers may "
        "be: status 413, or left out of the answer.",
        "body_too_large": "The answer is larger than `claim_check.max_bytes`.",
        "invalid_body": "The answer is not what was asked for: not UTF-8, or not the JSON that the API promises.",
        "upstream_error": "The wiki answered with a status or an API error that trying again does not change.",
        "fetch_failed": "All requests for the content failed, or timed out; the message of the last one says how.",
        "deadline_exceeded": "The deadline of the record was over before the content was there.",
        "breaker_open": "The breaker of the wiki, or of the endpoint, was open in every try.",
        "batch_budget": "The batch of the record was over `batch_budget`, and no later try succeeded.",
        "dropped_by_operator": "An operator gave the deferred event up (`deferred drop`).",
    }
)
