"""What is said of limits that disagree: both values, and what to change."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kafka.limit_rules import MOST_REQUEST_BYTES, Limits, disagreements, largest_batch, largest_error_event
from pipeline.records.error_event import Failure, error_record
from pipeline.records.error_types import ERROR_TYPES
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from tests.unit.pipeline.making import make_config

MIB = 1024 * 1024
SOURCE = "mediawiki.page_change.v1"
AGREED = Limits(
    max_request_size=MIB,
    buffer_memory=32 * MIB,
    source_topics={SOURCE: MIB},
    output_topic=MIB,
    error_topic=MIB,
    ledger_topic=MIB,
    broker_message=MIB,
    broker_request=100 * MIB,
)


def error_event(failure: Failure, **changed: Any) -> Record:
    """Of a position, without a key, at a time that do not matter, unless they are given."""
    given: dict[str, Any] = {
        "position": Position("s", 0, 0),
        "event_id": "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a",
        "key": None,
        "appended": datetime(2026, 1, 1, tzinfo=UTC),
        "emitter": make_config().job,
        "stream": SOURCE,
    }
    return error_record(make_config().sink.error_topic, failure, **given | changed)


def size_of(record: Record) -> int:
    return serialized_size(record.key, record.value, record.headers)


SMALL_LEDGER = replace(AGREED, ledger_topic=MIB // 2)
NOT_DEFERRING = {"deferral": {"policy": "none"}}


@pytest.mark.parametrize(
    ("limits", "sections"),
    [
        pytest.param(AGREED, {}, id="all agree"),
        pytest.param(Limits(max_request_size=MIB, buffer_memory=MIB), {}, id="what is not known is not judged"),
        pytest.param(SMALL_LEDGER, NOT_DEFERRING, id="a small ledger topic where nothing is deferred"),
        pytest.param(replace(SMALL_LEDGER, source_topics={SOURCE: MIB // 2}), {}, id="or where nothing is larger"),
    ],
)
def test_limits_that_agree(limits: Limits, sections: dict[str, Any]) -> None:
    assert disagreements(limits, make_config(**sections)) == []


def test_an_error_event_is_larger_by_the_headers_that_may_be_passed_on() -> None:
    bare = largest_error_event(make_config())
    passing = make_config(source={"pass_headers": ["a", "b"], "pass_headers_bytes": "1KiB"})
    headers = (("a", bytes(1000)), ("b", bytes(22)))
    failure = Failure("upstream_error", "")
    added = size_of(error_event(failure, headers=headers)) - size_of(error_event(failure))
    assert added <= largest_error_event(passing) - bare <= added + 20


LAPSING = {"source": {"read": "aligned", "late": "lapse"}}
RESOLVING = {"job": "rdf-resolve"}
ONE_LARGER = {SOURCE: MIB, "other": MIB + 1}


@pytest.mark.parametrize(
    ("known", "sections", "batch"),
    [
        ({}, {}, MIB),
        ({"output_topic": 64 * MIB, "error_topic": 64 * MIB, "ledger_topic": 64 * MIB}, {}, MIB),
        ({"output_topic": 500_000}, {}, 500_000),
        ({"error_topic": 20_000}, {}, 20_000),
        ({"ledger_topic": 20_000}, {}, 20_000),
        ({"ledger_topic": 20_000}, NOT_DEFERRING, MIB),
        ({"lapsed_topic": 20_000}, {}, MIB),
        ({"lapsed_topic": 20_000}, LAPSING, 20_000),
        ({"fetch_failure_topic": 20_000}, {}, MIB),
        ({"fetch_failure_topic": 20_000}, RESOLVING, 20_000),
        ({"max_request_size": 300_000}, {}, 300_000),
        # A topic of which nothing is known, as it is still to be made, takes what its broker says.
        ({"ledger_topic": None, "broker_message": 400_000}, {}, 400_000),
        ({"source_topics": {SOURCE: 100}}, {}, MIB),
        ({"output_topic": None, "error_topic": None, "ledger_topic": None, "broker_message": None}, {}, MIB),
    ],
)
def test_a_batch_fits_each_topic_that_is_written(known: dict[str, Any], sections: dict[str, Any], batch: int) -> None:
    assert largest_batch(replace(AGREED, **known), make_config(**sections)) == batch


@pytest.mark.parametrize(
    ("changed", "of", "values", "remedy"),
    [
        ({"output_topic": MIB - 1}, "output topic", (MIB, MIB - 1), f"lower sink.max.request.size to {MIB - 1}"),
        ({"buffer_memory": MIB - 1}, "producer", (MIB, MIB - 1), "lower sink.max.request.size"),
        ({"broker_request": MIB - 1}, "broker", (MIB, MIB - 1), "raise the broker's limit"),
        ({"source_topics": ONE_LARGER}, "source topic", (MIB + 1, MIB), "raise sink.max.request.size"),
        ({"ledger_topic": MIB - 1}, "ledger topic", (MIB, MIB - 1), f"ledger topic's max.message.bytes to {MIB}"),
        # A topic that is not there yet takes what the broker takes.
        ({"output_topic": None, "broker_message": MIB - 1}, "output topic", (MIB, MIB - 1), ""),
    ],
)
def test_a_warning_has_values_and_remedy(
    changed: dict[str, Any], of: str, values: tuple[int, int], remedy: str
) -> None:
    (found,) = disagreements(replace(AGREED, **changed), make_config())
    assert not found.fatal
    assert found.of == of
    assert all(str(value) in found.text for value in values)
    assert remedy in found.hint


@pytest.mark.parametrize(
    ("limit", "sections"), [("max_request_size", {}), ("error_topic", {}), ("fetch_failure_topic", RESOLVING)]
)
def test_error_events_have_to_fit(limit: str, sections: dict[str, Any]) -> None:
    """To the byte: one less, and the first event that fails would be the end of the job, for ever."""
    config = make_config(**sections)
    needed = largest_error_event(config)
    enough = replace(AGREED, source_topics={}, **{limit: needed})
    assert disagreements(enough, config) == []
    (found,) = disagreements(replace(enough, **{limit: needed - 1}), config)
    assert found.fatal
    assert f"{needed - 1}" in found.text
    assert f"{needed}" in found.text


def test_no_producer_takes_more_than_a_java_int() -> None:
    most = replace(AGREED, max_request_size=MOST_REQUEST_BYTES, buffer_memory=2**40, output_topic=2**40)
    assert not any(one.fatal for one in disagreements(most, make_config()))
    first, *others = disagreements(replace(most, max_request_size=MOST_REQUEST_BYTES + 1), make_config())
    assert first.fatal
    assert not any(one.fatal for one in others)
    assert MOST_REQUEST_BYTES == 2_147_483_647


def test_an_error_event_can_be_as_large_as_the_largest() -> None:
    """To the byte, for a job whose error events fit must not be refused: 500 characters of two bytes each are the most
    that a message has, a class with the longest name, 1,024 the most of a key, beside the largest position there is.
    """
    record = error_event(
        Failure(max(ERROR_TYPES, key=len), "é" * 500),
        position=Position(SOURCE, 2_147_483_647, 9_223_372_036_854_775_807),
        key=bytes(1024),
        schema="/schema" * 100,
    )
    assert largest_error_event(make_config()) == size_of(record)


@given(
    message=st.text(max_size=2000) | st.sampled_from(['"' * 900, "\\" * 900, "é" * 900, "大" * 900, "😀" * 900]),
    key=st.none() | st.binary(max_size=2000),
    offset=st.integers(0, 2**63 - 1),
    appended=st.datetimes(timezones=st.just(UTC)),
)
def test_no_error_event_exceeds_the_largest(message: str, key: bytes | None, offset: int, appended: datetime) -> None:
    position = Position(SOURCE, 3, offset)
    record = error_event(Failure("upstream_unavailable", message), position=position, key=key, appended=appended)
    assert size_of(record) <= largest_error_event(make_config())
