import json
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.broken import NOT_JSON, NOT_SCHEMA, not_json, not_schema
from devkit.traffic.records import Traffic
from pipeline.schemas import page_change_validator


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
