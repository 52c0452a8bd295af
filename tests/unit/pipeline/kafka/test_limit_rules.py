"""What is said of limits that disagree: both values, and what to change."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.kafka.limit_rules import MOST_REQUEST_BYTES, Limits, disagreements, largest_batch, largest_error_event
from pipeline.records.error_event import Failure, error_record
from pipeline.records.error_types import ERROR_TYPES
from pipeline.records.record import Position
from pipeline.records.size import serialized_size

MakeConfig = Callable[..., PipelineConfig]
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


def test_limits_that_agree(make_config: MakeConfig) -> None:
    assert disagreements(AGREED, make_config()) == []


def test_an_error_event_is_larger_by_the_headers_that_may_be_passed_on(make_config: MakeConfig) -> None:
    bare = largest_error_event(make_config())
    passing = make_config(source={"pass_headers": ["a", "b"], "pass_headers_bytes": "1KiB"})
    record = error_record(
        "t",
        Failure("upstream_error", ""),
        position=Position("s", 0, 0),
        key=None,
        appended=datetime.now(UTC),
        emitter="e",
        stream="s",
        headers=(("a", bytes(1000)), ("b", bytes(22))),
    )
    without = replace(record, headers=Position("s", 0, 0).headers())
    added = serialized_size(None, record.value, record.headers) - serialized_size(None, without.value, without.headers)
    assert added <= largest_error_event(passing) - bare <= added + 20


LAPSING = {"source": {"read": "aligned", "late": "lapse"}}
NOT_DEFERRING = {"deferral": {"policy": "none"}}
RESOLVING = {"job": "rdf-resolve"}


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
def test_a_batch_is_no_larger_than_each_topic_takes_that_is_written(
    make_config: MakeConfig, known: dict[str, Any], sections: dict[str, Any], batch: int
) -> None:
    assert largest_batch(replace(AGREED, **known), make_config(**sections)) == batch


def test_what_is_not_known_is_not_judged(make_config: MakeConfig) -> None:
    assert disagreements(Limits(max_request_size=MIB, buffer_memory=MIB), make_config()) == []


@pytest.mark.parametrize(
    ("changed", "of", "values", "remedy"),
    [
        ({"output_topic": MIB - 1}, "output topic", (MIB, MIB - 1), f"lower sink.max.request.size to {MIB - 1}"),
        ({"buffer_memory": MIB - 1}, "producer", (MIB, MIB - 1), "lower sink.max.request.size"),
        ({"broker_request": MIB - 1}, "broker", (MIB, MIB - 1), "raise the broker's limit"),
        (
            {"source_topics": {SOURCE: MIB, "other": MIB + 1}},
            "source topic",
            (MIB + 1, MIB),
            "raise sink.max.request.size",
        ),
        (
            {"ledger_topic": MIB - 1},
            "ledger topic",
            (MIB, MIB - 1),
            f"raise the ledger topic's max.message.bytes to {MIB}",
        ),
    ],
)
def test_a_warning_has_both_values_and_the_remedy(
    make_config: MakeConfig, changed: dict[str, Any], of: str, values: tuple[int, int], remedy: str
) -> None:
    (found,) = disagreements(replace(AGREED, **changed), make_config())
    assert not found.fatal
    assert found.of == of
    assert all(str(value) in found.text for value in values)
    assert remedy in found.hint


def test_a_topic_that_is_not_there_yet_takes_what_the_broker_takes(make_config: MakeConfig) -> None:
    low = replace(AGREED, output_topic=None, broker_message=MIB - 1)
    assert [str(MIB - 1) in one.text for one in disagreements(low, make_config())] == [True]


def test_a_small_ledger_topic_does_not_matter_where_nothing_is_deferred_or_nothing_is_larger(
    make_config: MakeConfig,
) -> None:
    small = replace(AGREED, ledger_topic=MIB // 2)
    assert disagreements(small, make_config(deferral={"policy": "none"})) == []
    assert disagreements(replace(small, source_topics={SOURCE: MIB // 2}), make_config()) == []


@pytest.mark.parametrize(
    ("limit", "sections"), [("max_request_size", {}), ("error_topic", {}), ("fetch_failure_topic", RESOLVING)]
)
def test_error_events_have_to_fit(make_config: MakeConfig, limit: str, sections: dict[str, Any]) -> None:
    """To the byte: one less, and the first event that fails would be the end of the job, for ever."""
    config = make_config(**sections)
    needed = largest_error_event(config)
    enough = replace(AGREED, source_topics={}, **{limit: needed})
    assert disagreements(enough, config) == []
    (found,) = disagreements(replace(enough, **{limit: needed - 1}), config)
    assert found.fatal
    assert f"{needed - 1}" in found.text
    assert f"{needed}" in found.text


def test_no_producer_takes_more_than_a_java_int(make_config: MakeConfig) -> None:
    most = replace(AGREED, max_request_size=MOST_REQUEST_BYTES, buffer_memory=2**40, output_topic=2**40)
    assert not any(one.fatal for one in disagreements(most, make_config()))
    first, *others = disagreements(replace(most, max_request_size=MOST_REQUEST_BYTES + 1), make_config())
    assert first.fatal
    assert not any(one.fatal for one in others)
    assert MOST_REQUEST_BYTES == 2_147_483_647


def test_an_error_event_can_be_as_large_as_the_largest(make_config: MakeConfig) -> None:
    """To the byte, for a job whose error events fit must not be refused: 500 characters of two bytes each are the most
    that a message has, a class with the longest name, 1,024 the most of a key, beside the largest position there is.
    """
    config = make_config()
    record = error_record(
        config.sink.error_topic,
        Failure(max(ERROR_TYPES, key=len), "é" * 500),
        position=Position(config.source.topic, 2_147_483_647, 9_223_372_036_854_775_807),
        event_id="5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a",
        key=bytes(1024),
        appended=datetime(2026, 1, 1, tzinfo=UTC),
        emitter=config.job,
        stream=config.source.topic,
        schema="/schema" * 100,
    )
    assert largest_error_event(config) == serialized_size(record.key, record.value, record.headers)


@given(
    message=st.text(max_size=2000) | st.sampled_from(['"' * 900, "\\" * 900, "é" * 900, "大" * 900, "😀" * 900]),
    key=st.none() | st.binary(max_size=2000),
    offset=st.integers(0, 2**63 - 1),
    appended=st.datetimes(timezones=st.just(UTC)),
)
def test_no_error_event_is_larger_than_the_largest(
    make_config: MakeConfig, message: str, key: bytes | None, offset: int, appended: datetime
) -> None:
    config = make_config()
    record = error_record(
        config.sink.error_topic,
        Failure("upstream_unavailable", message),
        position=Position(config.source.topic, 3, offset),
        event_id="5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a",
        key=key,
        appended=appended,
        emitter=config.job,
        stream=config.source.topic,
    )
    assert serialized_size(record.key, record.value, record.headers) <= largest_error_event(config)
