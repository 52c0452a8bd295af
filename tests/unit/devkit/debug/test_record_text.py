import base64
import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devkit.debug.record_text import json_object, plain_line, shown
from devkit.stack.topic_reader import TopicRecord

RECORD = TopicRecord(
    topic="out",
    partition=1,
    offset=42,
    timestamp_ms=1_790_000_000_123,
    key=b"enwiki:7",
    value=b'{"a": 1}',
    headers=(("claim-check-key", b"x/y"), ("source-offset", b"17")),
)


def test_a_line_has_all_there_is() -> None:
    assert plain_line(RECORD) == (
        "out/1/42  2026-09-21T14:13:20.123+00:00  key enwiki:7  8 bytes  "
        '[claim-check-key=x/y source-offset=17]  {"a": 1}'
    )


def test_a_tombstone_without_key_and_headers() -> None:
    bare = replace(RECORD, key=None, value=None, headers=())
    assert plain_line(bare) == "out/1/42  2026-09-21T14:13:20.123+00:00  key none  tombstone"


def test_a_long_value_is_cut_and_its_size_is_told() -> None:
    long = replace(RECORD, value=b"x" * 20_000_000)
    assert plain_line(long).endswith(f"20,000,000 bytes  [claim-check-key=x/y source-offset=17]  {'x' * 160}…")
    assert len(plain_line(long, whole=True)) > 20_000_000
    assert json_object(long)["value"] == "x" * 160
    assert json_object(long)["value_bytes"] == 20_000_000
    assert len(json_object(long, whole=True)["value"]) == 20_000_000


def test_a_time_that_no_calendar_has() -> None:
    assert "  -99999999999999999 ms  " in plain_line(replace(RECORD, timestamp_ms=-99999999999999999))


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"\x00\xffA", "\\x00\\xffA"), (b"\x1b[31m", "\\x1b[31m"), ("é\n".encode(), "é\\n"), (b"", ""), (None, "none")],
)
def test_bytes_as_text(data: bytes | None, text: str) -> None:
    assert shown(data, 80) == text


@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode), st.integers(1, 50) | st.none())
@example("é".encode() * 300, 5)
@example(("x" + "é" * 300).encode(), 5)
def test_nothing_reaches_the_terminal_but_what_can_be_printed(data: bytes, longest: int | None) -> None:
    text = shown(data, longest)
    assert text.isprintable()
    assert longest is None or len(text) <= longest + 1


@given(st.text(min_size=1, max_size=300))
def test_text_stays_text_wherever_it_is_cut(text: str) -> None:
    assert json_object(replace(RECORD, value=text.encode()))["value"] == text[:160]


@given(st.binary(max_size=100))
def test_json_keeps_every_byte(data: bytes) -> None:
    value = json.loads(json.dumps(json_object(replace(RECORD, value=data))))["value"]
    assert (value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])) == data
