import json
from copy import deepcopy
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.broken import NOT_JSON, NOT_SCHEMA, not_json, not_schema
from devkit.traffic.fate import fate_of_value
from devkit.traffic.records import Expected, Traffic
from pipeline.jobs.html import HtmlJob
from pipeline.records.page_change import InvalidEventError, parse
from pipeline.schemas import page_change_validator


def ends_in_the_pipeline(value: bytes) -> tuple[str, str | None]:
    """Fate and reason by the job's own parsing and filters, as far as no fetch decides."""
    try:
        event = parse(value, "topic/0/0")
    except InvalidEventError as error:
        return "error", error.failure.error_type
    if event.domain == "canary":
        return "filtered", "canary"
    return ("output", None) if HtmlJob.wants(HtmlJob.__new__(HtmlJob), event) else ("filtered", "content_model")


def damaged(event: Any, rng: Random) -> Any:
    """The event with one member at some depth removed, or of another type or value."""
    inside = event
    while True:
        name = rng.choice(list(inside))
        if isinstance(inside[name], dict) and inside[name] and rng.random() < 0.8:
            inside = inside[name]
            continue
        if rng.random() < 0.4:
            del inside[name]
        else:
            inside[name] = rng.choice([None, 0, -1, 5.0, 5.5, "", "text", True, [], {}, inside[name]])
        return event


def test_it_is_what_the_generator_meant(mixed: Traffic) -> None:
    assert {one.expected.fate for one in mixed.records} == {"output", "error", "filtered"}
    for record in mixed.records:
        found = fate_of_value(record.value)
        if found.fate == "error":  # of broken JSON the generator states no id
            assert (found.fate, found.reason) == (record.expected.fate, record.expected.reason)
        else:
            assert found == record.expected


def test_of_any_event_it_is_what_the_pipeline_makes_of_it(mixed: Traffic) -> None:
    rng = Random(5)
    whole = [orjson.loads(one.value) for one in mixed.records if one.expected.fate != "error"]
    seen = set()
    for _ in range(3000):
        value = orjson.dumps(damaged(deepcopy(rng.choice(whole)), rng))
        found = fate_of_value(value)
        assert (found.fate, found.reason) == ends_in_the_pipeline(value), value
        seen.add((found.fate, found.reason))
    assert {reason for _, reason in seen} >= {None, "canary", "content_model", "schema_violation", "unknown_schema"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "malformed_json"),
        (b"{.....", "malformed_json"),
        (b"[" * 300 + b"]" * 300, "malformed_json"),
        (b"null", "schema_violation"),
        (b'["a"]', "schema_violation"),
        (b'{"$schema": "/mediawiki/page/change/2.0.0"}', "unknown_schema_version"),
        (b'{"$schema": "/mediawiki/revision/create/1.0.0"}', "unknown_schema"),
        (b'{"$schema": "/mediawiki/page/change/1.3.0"}', "schema_violation"),
    ],
)
def test_what_is_no_event_ends_as_an_error(value: bytes, reason: str) -> None:
    assert fate_of_value(value) == Expected(fate="error", reason=reason)
    assert ends_in_the_pipeline(value) == ("error", reason)


def test_another_minor_version_is_read_as_one(mixed: Traffic) -> None:
    event = orjson.loads(next(one.value for one in mixed.records if one.expected.latest_revision))
    value = orjson.dumps({**event, "$schema": "/mediawiki/page/change/1.9.0", "later": 1})
    assert fate_of_value(value).fate == "output" == ends_in_the_pipeline(value)[0]


@pytest.mark.parametrize(
    "number",
    [
        *("9223372036854775808", "18446744073709551615", "-9223372036854775808"),
        *("1e22", "1.5e300", '"99999999999999999999999"'),  # no integers, so of any number of digits
    ],
)
def test_an_integer_of_64_bits_and_what_is_none_is_passed_on(mixed: Traffic, number: str) -> None:
    value = with_number(mixed, "of_a_later_version", number)
    assert fate_of_value(value).fate == "output" == ends_in_the_pipeline(value)[0]


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "1" * 300, "-" + "1" * 20])
@pytest.mark.parametrize("place", ["rev_id", "of_a_later_version"])
def test_an_integer_beyond_64_bits_is_refused(mixed: Traffic, digits: str, place: str) -> None:
    """By the schema, where it has a bound of its own."""
    value = with_number(mixed, place, digits)
    found = fate_of_value(value)
    assert found == Expected(
        fate="error",
        reason="schema_violation" if place == "rev_id" else "malformed_json",
        event_id=orjson.loads(value)["meta"]["id"],
    )
    assert (found.fate, found.reason) == ends_in_the_pipeline(value)


def with_number(mixed: Traffic, place: str, number: str) -> bytes:
    """An event that is fetched, with a number at this place of its revision."""
    event = orjson.loads(next(one.value for one in mixed.records if one.expected.latest_revision))
    event["revision"][place] = 4_711_001_122
    return orjson.dumps(event).replace(b"4711001122", number.encode())


@pytest.fixture(scope="module")
def values(mixed: Traffic) -> list[bytes]:
    return [record.value for record in mixed.records if record.expected.fate == "output"][:50]


@given(data=st.data(), turn=st.integers(0, 50), seed=st.integers(0, 10_000))
def test_what_is_not_json_is_json_for_no_parser(values: list[bytes], data: st.DataObject, turn: int, seed: int) -> None:
    broken = not_json(turn, data.draw(st.sampled_from(values)), Random(seed))
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(broken)
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        json.loads(broken)


@given(data=st.data(), turn=st.integers(0, 50), seed=st.integers(0, 10_000))
def test_what_is_not_schema_is_json_with_a_whole_meta(
    values: list[bytes], data: st.DataObject, turn: int, seed: int
) -> None:
    event: dict[str, Any] = orjson.loads(data.draw(st.sampled_from(values)))
    before = orjson.dumps(event)
    broken = not_schema(turn, event, Random(seed))
    assert not page_change_validator().is_valid(broken)
    assert broken["meta"] == event["meta"]
    assert orjson.dumps(event) == before


def test_broken_events_of_a_stream_take_turns(mixed: Traffic) -> None:
    malformed = [r.value for r in mixed.records if r.expected.reason == "malformed_json"]
    assert len(malformed) >= len(NOT_JSON)
    assert b"" in malformed
    assert any(value and not _is_utf8(value) for value in malformed)
    assert any(value and not value.endswith(b"}") for value in malformed)
    violations = [orjson.loads(r.value) for r in mixed.records if r.expected.reason == "schema_violation"]
    assert len(violations) >= len(NOT_SCHEMA)
    assert any(event.get("revision", "") is None for event in violations)
    assert any("from another schema" in str(event.get("page")) for event in violations)


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
