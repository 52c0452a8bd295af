"""Outputs and error events, and what takes the place of an event that came too late."""

import copy
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.jobs.message import SourceMessage
from pipeline.records.error_event import (
    MAX_KEY_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_MESSAGE_CHARACTERS,
    Failure,
    error_record,
    rfc3339,
)
from pipeline.records.lapsed_action import is_late, lapsed_record, without_late
from pipeline.records.output import HtmlContent, SourceContent, html_value, source_value
from pipeline.records.page_change import parse
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from pipeline.schemas import (
    HTML_CHANGE_URI,
    PAGE_CHANGE_URI,
    error_validator,
    html_change_validator,
    lapsed_validator,
    page_change_validator,
)
from tests.unit.pipeline.making import make_config, make_event

EVENT_IDS = ("5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a", "0e3b4b8e-54b4-4f0b-9a55-f8a4a1e2a0c1")
LONGEST_TOPIC = "t" * 249
# Half surrogate pairs too: a header of a broken answer is read with them.
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=2000)
ANY_KEY = st.none() | st.integers(0, 3000).map(bytes)
HORIZON = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LAPSE = {"read": "aligned", "late": "lapse", "lateness": "30s"}
STREAM = "mediawiki.page_html_content_change.v1"
TEXTS = st.text(max_size=200)


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


def message(behind_s: float, value: bytes | None = b"{}", key: bytes | None = b"k", offset: int = 4) -> SourceMessage:
    return SourceMessage(Position("a", 1, offset), key, value, HORIZON - timedelta(seconds=behind_s), HORIZON)


def test_it_says_which_event_how_late_and_which_horizon() -> None:
    value = orjson.dumps({"meta": {"id": "abc"}, "text": "x" * 10_000})
    record = lapsed_record(message(90.5, value), make_config(source=LAPSE))
    event = orjson.loads(record.value)
    assert record.topic == event["meta"]["stream"] == "mw_page_html_content_change_enrich.lapsed"
    assert (event["event_id"], event["source"]) == ("abc", {"topic": "a", "partition": 1, "offset": 4})
    assert (event["dt"], event["horizon"]) == ("2026-03-02T08:58:29.500Z", "2026-03-02T09:00:00.000Z")
    assert event["behind_ms"] == 90_500
    assert (record.key, dict(record.headers)["source-offset"]) == (b"k", b"%019d" % 4)
    assert lapsed_record(message(90.5, value), make_config(source=LAPSE)) == record, "a repeat is the same"


def test_the_events_of_a_topic_that_was_made_again_are_others() -> None:
    """They stand at the same positions; of an event without an id nothing else tells."""
    values = [*(orjson.dumps({"meta": {"id": event_id}}) for event_id in EVENT_IDS), b"{}", b"[]"]
    records = [lapsed_record(message(90, value), make_config(source=LAPSE)) for value in values]
    named = [dict(record.headers).get("source-event-id") for record in records]
    assert named == [*(event_id.encode() for event_id in EVENT_IDS), None, None]
    ids = [orjson.loads(record.value)["meta"]["id"] for record in records]
    assert (len(set(ids)), ids[2]) == (3, ids[3])


@given(value=st.none() | st.binary(max_size=50) | st.sampled_from([b"[]", b'{"meta":{"id":7}}', b'{"meta":[]}']))
def test_it_is_an_event_of_its_schema_whatever_lapsed(value: bytes | None) -> None:
    record = lapsed_record(message(31, value, key=b"k" * 20_000), make_config(source=LAPSE))
    lapsed_validator().validate(orjson.loads(record.value))
    assert "event_id" not in orjson.loads(record.value)
    assert record.key is None
    assert len(record.value) < 1000


def test_two_jobs_make_two_events_of_one() -> None:
    records = [
        lapsed_record(message(31), make_config(source=LAPSE, job=job))
        for job in ("html-enrichment", "content-enrichment")
    ]
    assert len({orjson.loads(record.value)["meta"]["id"] for record in records}) == 2
    assert len({record.topic for record in records}) == 2


@pytest.mark.parametrize(
    ("event", "late"),
    [
        *((message(behind_s), False) for behind_s in (-5, 0, 30)),
        *((message(behind_s), True) for behind_s in (30.001, 3600)),
        (replace(message(3600), horizon=None), False),
        (replace(message(3600), appended=datetime(1970, 1, 1, tzinfo=UTC)), False),
    ],
    ids=[
        "ahead",
        "at the horizon",
        "as far as allowed",
        "just late",
        "an hour",
        "no horizon",
        "a record without a time",
    ],
)
def test_late_is_what_is_further_behind_than_it_may_be(event: SourceMessage, late: bool) -> None:
    assert is_late(event, timedelta(seconds=30)) is late


@pytest.mark.parametrize(
    ("source", "kept"), [(LAPSE, [1, 3]), (LAPSE | {"late": "process"}, [1, 2, 3]), ({}, [1, 2, 3])]
)
def test_only_the_option_splits_them_off(source: dict[str, Any], kept: list[int]) -> None:
    messages = [message(behind, offset=offset) for offset, behind in ((1, 0), (2, 60), (3, -60))]
    lapsed: list[Record] = []
    left = without_late(messages, make_config(source=source), lapsed)
    assert [one.position.offset for one in left] == kept
    assert len(lapsed) == 3 - len(kept)


def output_of(event: dict[str, Any], content: HtmlContent | None, position: str = "t/0/1") -> dict[str, Any]:
    made: dict[str, Any] = orjson.loads(html_value(parse(orjson.dumps(event), position), content, stream=STREAM))
    return made


@given(html=TEXTS, diff=st.none() | TEXTS)
def test_an_output_is_valid_by_its_schema_and_without_its_diff_a_page_change(html: str, diff: str | None) -> None:
    output = output_of(make_event(), HtmlContent(html, 28673 if diff is not None else None, diff))
    html_change_validator().validate(output)
    addition = output.pop("html_diff", None)
    page_change_validator().validate(output)
    assert output["revision"]["content_slots"]["main"]["content_body"] == html
    assert addition == (None if diff is None else {"base_rev_id": 28673, "format": "unified", "body": diff})


def test_only_meta_and_the_body_differ_from_the_source_event() -> None:
    event = make_event(comment="why", performer={"user_text": "Ä"})
    output = output_of(event, HtmlContent("<p>"))
    assert output["meta"].pop("stream") == STREAM
    assert output["meta"].pop("id") != event["meta"].pop("id")
    del output["revision"]["content_slots"]["main"]["content_body"], event["meta"]["stream"]
    assert output == event | {"$schema": HTML_CHANGE_URI}
    assert list(output) == list(event), "the source's order of fields"


def test_without_content_the_body_fields_are_absent() -> None:
    event = parse(orjson.dumps(make_event()), "t/0/1")
    for value in (html_value(event, None, stream=STREAM), source_value(event, None, stream=STREAM)):
        output = orjson.loads(value)
        assert "html_diff" not in output
        assert output["revision"] == make_event()["revision"]


@pytest.mark.parametrize("content", [None, HtmlContent("<p>", 1, "")], ids=["without content", "with content"])
def test_a_body_of_the_source_event_is_not_passed_on(content: HtmlContent | None) -> None:
    slots = {role: {"content_model": "wikitext", "content_body": "''hidden''"} for role in ("main", "other")}
    assert b"hidden" not in html_value(
        parse(orjson.dumps(make_event(revision={"content_slots": slots})), "t/0/1"), content, stream=STREAM
    )


@pytest.mark.parametrize("kind", ["edit", "visibility_change"])
def test_nor_is_one_of_the_state_before(kind: str) -> None:
    """What was to be seen then may be hidden since; all else of that state is passed on."""
    slots = {role: {"content_model": "wikitext", "content_body": "''hidden''"} for role in ("main", "other")}
    bare = {role: {"content_model": "wikitext"} for role in slots}
    prior = {"page": {"page_title": "Alt"}, "revision": {"rev_id": 5, "content_slots": slots}, "new": 1}
    event = make_event(kind, revision={"is_content_visible": False}, prior_state=prior)
    parsed = parse(orjson.dumps(event), "t/0/1")
    for value in (html_value(parsed, None, stream=STREAM), source_value(parsed, None, stream=STREAM)):
        output = orjson.loads(value)
        assert output["prior_state"] == prior | {"revision": {"rev_id": 5, "content_slots": bare}}
        assert list(output) == list(event), "the source's order of fields"
    assert parsed.raw["prior_state"] == prior


@pytest.mark.parametrize("prior", [{}, {"page": {"page_title": "Alt"}}, {"revision": {"is_content_visible": True}}])
def test_a_state_before_without_slots_stays_as_it_is(prior: dict[str, Any]) -> None:
    assert output_of(make_event(prior_state=prior), None)["prior_state"] == prior


def test_a_delete_without_slots_stays_without() -> None:
    output = output_of(make_event("delete", revision={"content_slots": None}), None)
    assert "content_slots" not in output["revision"]
    page_change_validator().validate(output)


def test_a_repeat_is_the_same_and_another_event_has_another_id() -> None:
    content = HtmlContent("<p>", 1, "diff")
    assert output_of(make_event(), content) == output_of(make_event(), content, position="t/0/2")
    other = make_event(meta={"id": "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1b"})
    assert output_of(make_event(), content)["meta"]["id"] != output_of(other, content)["meta"]["id"]


def test_the_time_is_the_source_events() -> None:
    assert output_of(make_event(), None)["meta"]["dt"] == "2026-03-02T09:00:00.150Z"
    assert output_of(make_event(meta={"dt": None}), None)["meta"]["dt"] == make_event()["dt"]


def test_the_source_event_is_not_changed() -> None:
    event = parse(orjson.dumps(make_event()), "t/0/1")
    before = copy.deepcopy(event.raw)
    html_value(event, HtmlContent("<p>", 1, "diff"), stream=STREAM)
    assert event.raw == before


def test_decoded_bytes_are_those_of_html_and_diff_before_escaping() -> None:
    assert HtmlContent('"ä"\n').decoded_bytes() == 5
    assert HtmlContent('"ä"\n', 1, "-😀").decoded_bytes() == 10


@given(text=TEXTS)
def test_a_source_stands_where_html_would_and_the_id_is_another(text: str) -> None:
    event = parse(orjson.dumps(make_event()), "t/0/1")
    source = orjson.loads(source_value(event, SourceContent(text), stream=STREAM))
    page_change_validator().validate(source)
    html = output_of(make_event(), HtmlContent(text))
    assert source["meta"].pop("id") != html["meta"].pop("id")
    assert source | {"$schema": HTML_CHANGE_URI} == html
    assert SourceContent(text).decoded_bytes() == len(text.encode())
