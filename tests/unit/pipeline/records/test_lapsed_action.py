"""What takes the place of an event that came too late."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.jobs.message import SourceMessage
from pipeline.records.lapsed_action import is_late, lapsed_record, without_late
from pipeline.records.record import Position, Record
from pipeline.schemas import lapsed_validator
from tests.unit.pipeline.making import make_config

HORIZON = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
EVENT_IDS = ("5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a", "0e3b4b8e-54b4-4f0b-9a55-f8a4a1e2a0c1")
LAPSE = {"read": "aligned", "late": "lapse", "lateness": "30s"}


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
