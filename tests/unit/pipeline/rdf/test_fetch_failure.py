"""What a failed fetch comes to: valid by its schema, the same in a replay, and no larger than an error event."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.jobs.message import SourceMessage
from pipeline.kafka.limit_rules import largest_error_event
from pipeline.rdf.fetch_failure import FETCH_ERROR_TYPES, fetch_failure_value
from pipeline.rdf.operation import Operation
from pipeline.records.error_event import Failure
from pipeline.records.error_types import ERROR_TYPES, ErrorType
from pipeline.records.record import Position
from pipeline.records.size import serialized_size
from pipeline.schemas import fetch_failure_validator
from tests.unit.pipeline.making import make_config

NOT_OF_A_FETCH: tuple[ErrorType, ...] = (
    "malformed_json",
    "schema_violation",
    "unknown_schema",
    "unknown_schema_version",
    "source_event_too_large",
    "record_without_time",
    "dropped_by_operator",
)
DIFF = Operation("Q64", "diff", 12, 11, "2026-03-02T09:00:00Z", 3, (Position("mediawiki.revision-create", 0, 4711),))
IMPORT = Operation("L7", "import", 12, None, DIFF.dt, 1, DIFF.sources)
MESSAGE = SourceMessage(Position("operations", 0, 7), b"Q64", b"", datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC))


def value_of(operation: Operation, failure: Failure, message: SourceMessage = MESSAGE, **of_job: str) -> bytes:
    of_job = {"topic": "failures", "domain": "www.wikidata.org", "emitter": "rdf-resolve"} | of_job
    value = fetch_failure_value(operation, failure, message, **of_job)
    assert value is not None
    return value


def test_it_says_what_was_asked_for_and_what_came() -> None:
    event = orjson.loads(value_of(DIFF, Failure("revision_not_found", "revision 12: status 404")))
    fetch_failure_validator().validate(event)
    meta = event.pop("meta")
    assert (meta["stream"], meta["domain"], meta["request_id"]) == ("failures", "www.wikidata.org", DIFF.id)
    assert event == {
        "$schema": "/rdf_streaming_updater/fetch_failure/1.2.0",
        "dt": "2026-03-02T09:00:01.000Z",
        "emitter_id": "rdf-resolve",
        "item": "Q64",
        "op_type": "diff",
        "revision_id": 12,
        "from_revision_id": 11,
        "fetch_error_type": "ENTITY_NOT_FOUND",
        "exception_type": "revision_not_found",
        "exception_msg": "revision 12: status 404",
        "original_ingestion_dt": "2026-03-02T09:00:01.000Z",
        "original_event_info": {
            "$schema": "/enrichment/rdf_operation/1.0.0",
            "meta": {"stream": "operations", "id": DIFF.id, "dt": "2026-03-02T09:00:00Z"},
        },
    }


@pytest.mark.parametrize("error_type", NOT_OF_A_FETCH)
def test_another_failure_is_none_of_a_fetch(error_type: ErrorType) -> None:
    of_job = {"topic": "failures", "domain": "www.wikidata.org", "emitter": "rdf-resolve"}
    assert fetch_failure_value(IMPORT, Failure(error_type, "it says"), MESSAGE, **of_job) is None


@pytest.mark.parametrize("error_type", [of for of in ERROR_TYPES if of not in NOT_OF_A_FETCH])
def test_each_failure_of_a_fetch_has_its_type(error_type: ErrorType) -> None:
    event = orjson.loads(value_of(IMPORT, Failure(error_type, "it says")))
    fetch_failure_validator().validate(event)
    assert (event["exception_type"], event["fetch_error_type"]) == (error_type, FETCH_ERROR_TYPES[error_type])
    assert "from_revision_id" not in event


@given(text=st.text(max_size=2_000), appended=st.datetimes(timezones=st.just(UTC)))
def test_any_message_at_any_time_is_valid_and_repeated_by_a_replay(text: str, appended: datetime) -> None:
    message = SourceMessage(MESSAGE.position, MESSAGE.key, MESSAGE.value, appended)
    value = value_of(DIFF, Failure("invalid_body", text), message)
    fetch_failure_validator().validate(orjson.loads(value))
    assert value == value_of(DIFF, Failure("invalid_body", text), message)


def test_two_operations_have_two_ids() -> None:
    failure = Failure("fetch_failed", "")
    values = [value_of(operation, failure) for operation in (DIFF, IMPORT)]
    assert len({orjson.loads(value)["meta"]["id"] for value in values}) == 2


@pytest.mark.parametrize("source_topic", ["s", "s" * 249])
def test_the_largest_is_no_larger_than_the_largest_error_event(source_topic: str) -> None:
    """Of the longest names that topics and hosts have, where the error event's are as short as they can be."""
    names: dict[str, Any] = {"error_topic": "e", "fetch_failure_topic": "f" * 249}
    config = make_config(job="rdf-resolve", source={"topic": source_topic}, sink=names)
    dt = f"2026-03-02T09:00:00.{'1' * 107}Z"
    assert len(dt) == 128
    operation = Operation("Q" + "9" * 19, "reconcile", 2**53 - 1, 2**53 - 1, dt, 2**53 - 1, DIFF.sources)
    message = SourceMessage(Position(source_topic, 0, 7), operation.key, b"", MESSAGE.appended)
    failure = Failure("content_refused_by_upstream", '"' * 500)
    value = value_of(operation, failure, message, topic="f" * 249, domain="d" * 253, emitter=config.job)
    assert serialized_size(operation.key, value, message.output_headers(None)) <= largest_error_event(config)
