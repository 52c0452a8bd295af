import uuid
from datetime import UTC, datetime, timedelta, timezone

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.records.error_event import (
    MAX_KEY_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_MESSAGE_CHARACTERS,
    Failure,
    error_record,
    rfc3339,
)
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from pipeline.schemas import PAGE_CHANGE_URI, error_validator

EVENT_IDS = ("5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a", "0e3b4b8e-54b4-4f0b-9a55-f8a4a1e2a0c1")
LONGEST_TOPIC = "t" * 249
# Half surrogate pairs too: a header of a broken answer is read with them.
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=2000)
ANY_KEY = st.none() | st.integers(0, 3000).map(bytes)


def record_of(
    message: str = "no such revision",
    *,
    key: bytes | None = b"key",
    offset: int = 41,
    event_id: str | None = None,
    topic: str = "source",
    job: str = "html-enrichment",
    raw_event: bytes | None = None,
) -> Record:
    return error_record(
        "mw_enrich.error" if topic == "source" else topic,
        Failure("revision_not_found", message),
        position=Position(topic, 3, offset),
        event_id=event_id,
        key=key,
        appended=datetime(2026, 3, 2, 9, 0, 0, 150_000, tzinfo=UTC),
        emitter=job,
        stream=topic,
        raw_event=raw_event,
    )


@given(message=ANY_TEXT, key=ANY_KEY, topic=st.sampled_from(["source", LONGEST_TOPIC]))
@example(message="\x00" * 2000, key=bytes(MAX_KEY_BYTES), topic=LONGEST_TOPIC)
@example(message='"' * 2000, key=bytes(MAX_KEY_BYTES), topic=LONGEST_TOPIC)
@example(message="😀" * 2000, key=bytes(MAX_KEY_BYTES), topic=LONGEST_TOPIC)
@example(message="\ud800" * 2000, key=bytes(MAX_KEY_BYTES), topic=LONGEST_TOPIC)
@example(message="x" * 2_300_000, key=bytes(2_000_000), topic=LONGEST_TOPIC)
def test_an_error_event_is_valid_and_small_whatever_failed(message: str, key: bytes | None, topic: str) -> None:
    record = record_of(message, key=key, topic=topic)
    assert serialized_size(record.key, record.value, record.headers) < 4096
    error_validator().validate(orjson.loads(record.value))


@given(message=ANY_TEXT, key=ANY_KEY)
def test_the_same_position_gives_the_same_bytes(message: str, key: bytes | None) -> None:
    assert record_of(message, key=key) == record_of(message, key=key)


def test_two_jobs_that_share_an_error_topic_make_two_of_it() -> None:
    ids = {orjson.loads(record_of(job=job).value)["meta"]["id"] for job in ("html-enrichment", "content-enrichment")}
    assert len(ids) == 2


EVENTS = st.tuples(st.integers(0, 2**63 - 1), st.sampled_from([None, *EVENT_IDS]))


@given(first=EVENTS, second=EVENTS)
@example(first=(0, EVENT_IDS[0]), second=(0, EVENT_IDS[1]))
@example(first=(0, EVENT_IDS[0]), second=(0, None))
def test_ids_are_those_of_position_and_event(first: tuple[int, str | None], second: tuple[int, str | None]) -> None:
    """A topic that was made again has other events at the same positions."""
    records = [record_of(offset=offset, event_id=event_id) for offset, event_id in (first, second)]
    one, other = (orjson.loads(record.value)["meta"]["id"] for record in records)
    assert uuid.UUID(one).version == 5
    assert (one == other) == (first == second)


def test_the_headers_say_which_event_it_was() -> None:
    source = Position("source", 3, 41).headers()
    assert record_of(event_id=EVENT_IDS[0]).headers == (*source, ("source-event-id", EVENT_IDS[0].encode()))
    assert record_of().headers == source


def test_the_event_says_where_it_came_from_and_why() -> None:
    record = record_of()
    event = orjson.loads(record.value)
    assert record.topic == event["meta"]["stream"] == "mw_enrich.error"
    assert event["dt"] == event["meta"]["dt"] == "2026-03-02T09:00:00.150Z"
    assert event["emitter_id"] == "html-enrichment"
    assert event["error_type"] == "revision_not_found"
    assert event["message"] == "no such revision (source source/3/41)"
    assert event["errored_stream_name"] == "source"
    assert event["errored_schema_uri"] == PAGE_CHANGE_URI


@pytest.mark.parametrize(("length", "kept"), [(0, True), (MAX_KEY_BYTES, True), (MAX_KEY_BYTES + 1, False)])
def test_a_key_is_kept_whole_or_not_at_all(length: int, *, kept: bool) -> None:
    assert record_of(key=b"k" * length).key == (b"k" * length if kept else None)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a" * MAX_MESSAGE_CHARACTERS, "a" * MAX_MESSAGE_CHARACTERS),
        ("a" * (MAX_MESSAGE_CHARACTERS + 1), "a" * (MAX_MESSAGE_CHARACTERS - 1) + "…"),
        ("ä" * MAX_MESSAGE_CHARACTERS, "ä" * MAX_MESSAGE_CHARACTERS),
        ("a" + "😀" * 400, "a" + "😀" * ((MAX_MESSAGE_BYTES - 1) // 4)),
        ("line\nline\x00 \udc80", "line\N{REPLACEMENT CHARACTER}line" + "\N{REPLACEMENT CHARACTER} \ufffd"),
    ],
    ids=["just fits", "cut", "two bytes each", "cut between characters", "unprintable"],
)
def test_a_message_is_cut_to_what_may_be_shown(message: str, shown: str) -> None:
    assert orjson.loads(record_of(message).value)["message"] == f"{shown} (source source/3/41)"


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 3, 2, 9, 0, 0, 150_999, tzinfo=UTC),
        datetime(2026, 3, 2, 10, 30, 0, 150_000, tzinfo=timezone(timedelta(hours=1, minutes=30))),
    ],
)
def test_times_are_written_in_utc_with_milliseconds(moment: datetime) -> None:
    assert rfc3339(moment) == "2026-03-02T09:00:00.150Z"


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_ends_of_time_are_valid_times(moment: datetime) -> None:
    error_validator().validate({**orjson.loads(record_of().value), "dt": rfc3339(moment)})


@pytest.mark.parametrize(
    ("raw", "text"), [(b'{"a":"\xc3\xa4"}', '{"a":"ä"}'), (b"\xff<", "\N{REPLACEMENT CHARACTER}<")]
)
def test_a_full_event_goes_in_as_text(raw: bytes, text: str) -> None:
    event = orjson.loads(record_of(raw_event=raw).value)
    error_validator().validate(event)
    assert event.pop("raw_event") == text
    assert event == orjson.loads(record_of().value)
