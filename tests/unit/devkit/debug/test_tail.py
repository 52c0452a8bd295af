"""Records as text, and the tail of a topic whose broker is slow to tell positions."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka.structs import TopicPartition

from devkit.debug.record_text import json_object, plain_line, shown
from devkit.debug.tail import TopicTail, oldest_first
from devkit.stack.topic_reader import TopicRecord

PLACE = TopicPartition("t", 0)
RECORD = TopicRecord(
    topic="out",
    partition=1,
    offset=42,
    timestamp_ms=1_790_000_000_123,
    key=b"enwiki:7",
    value=b'{"a": 1}',
    headers=(("claim-check-key", b"x/y"), ("source-offset", b"17")),
)


class Consumer:
    """Holds three records. Its first position is None, as kafka-python has it when a broker does not tell in time."""

    def __init__(self) -> None:
        self._position, self._asked = 0, 0

    def topics(self) -> set[str]:
        return {"t"}

    def partitions_for_topic(self, _topic: str) -> set[int]:
        return {0}

    def assign(self, places: Sequence[TopicPartition]) -> None:
        assert places == [PLACE]

    def end_offsets(self, _places: Sequence[TopicPartition], *, timeout_ms: int) -> Mapping[TopicPartition, int]:
        return {PLACE: 3}

    def beginning_offsets(self, _places: Sequence[TopicPartition], *, timeout_ms: int) -> Mapping[TopicPartition, int]:
        return {PLACE: 0}

    def seek(self, _place: TopicPartition, offset: int) -> None:
        self._position = offset

    def position(self, _place: TopicPartition) -> int | None:
        self._asked += 1
        return None if self._asked == 1 else self._position

    def poll(self, timeout_ms: int) -> Mapping[TopicPartition, Sequence[SimpleNamespace]]:
        assert timeout_ms
        if self._position == 3:
            return {}
        self._position += 1
        offset = self._position - 1
        record = SimpleNamespace(
            topic=PLACE.topic, partition=0, offset=offset, timestamp=offset, key=None, value=b"%d" % offset, headers=()
        )
        return {PLACE: [record]}

    def close(self) -> None:
        pass


def test_a_position_that_is_not_told_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devkit.debug.tail.connect", lambda _bootstrap, **_settings: Consumer())
    with TopicTail("broker:1", "t") as tail:
        assert [record.value for record in tail.last(2)] == [b"1", b"2"]


def test_a_record_without_a_time_stays_behind_the_one_before_it() -> None:
    times = {0: [10, 10**18, 30, 0], 1: [-1, 20, 40]}
    records = [
        TopicRecord("t", partition, offset, time_ms, None, None)
        for partition, of in times.items()
        for offset, time_ms in enumerate(of)
    ]
    assert [(one.partition, one.offset) for one in oldest_first(records)] == [
        (1, 0), (0, 0), (0, 1), (1, 1), (0, 2), (0, 3), (1, 2),
    ]  # fmt: skip


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
