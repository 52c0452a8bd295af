import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import orjson
import pytest

from devkit.errors import StackError
from devkit.stack.client_settings import ClientSettings
from devkit.stack.topic_reader import TopicRecord
from devkit.traffic.capture.replacement import Replacement
from devkit.traffic.capture.stand_ins import StandIns
from devkit.traffic.capture.take import CaptureOrder, captured, take_capture
from devkit.traffic.capture.topic_window import WindowStart
from tests.unit.devkit.traffic.capture.captures import ReadCapture, read_capture

ORDER = CaptureOrder("127.0.0.1:1", ("changes",), "latest", timedelta(minutes=10), 100, 1 << 30, keep_text=False)


def record(offset: int, value: bytes | None, key: bytes | None = None) -> TopicRecord:
    return TopicRecord("changes", 0, offset, 1000 + offset, key, value)


class Window:
    """Stands in for one of a broker: what it has, then perhaps a failure."""

    records_there: Sequence[TopicRecord] = ()
    fails = False
    partitions: ClassVar = {"changes": 1}

    def __init__(
        self, bootstrap: str, topics: Sequence[str], start: WindowStart, span: timedelta, client: ClientSettings
    ) -> None:
        assert client == ORDER.client
        assert (bootstrap, tuple(topics), start, span) == (ORDER.bootstrap, ORDER.topics, ORDER.start, ORDER.span)

    def records(self, stop: Callable[[], bool]) -> Iterator[TopicRecord | None]:
        for one in self.records_there:
            if stop():
                return
            yield one
            yield None
        if self.fails:
            raise StackError("the broker is gone")

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> type[Window]:
    class Own(Window):
        records_there = tuple(record(n, b'{"user":"Alice","n":%d}' % n) for n in range(5))

    monkeypatch.setattr("devkit.traffic.capture.take.TopicWindow", Own)
    return Own


Take = Callable[..., tuple[Any, ReadCapture]]


@pytest.fixture
def take(tmp_path: Path) -> Take:
    """Takes a capture by the order with some changes, and reads it."""

    def take(
        stop: Callable[[], bool] = lambda: False, tell: Callable[[int], None] = lambda _count: None, **changes: Any
    ) -> tuple[Any, ReadCapture]:
        taken = take_capture(replace(ORDER, **changes), tmp_path / "c.jsonl", stop=stop, tell=tell)
        return taken, read_capture(tmp_path / "c.jsonl")

    return take


def test_all_of_the_window_is_in_the_file(window: type[Window], take: Take, tmp_path: Path) -> None:
    counts: list[int] = []
    taken, found = take(tell=counts.append)
    assert taken.events == 5
    assert [one.event["n"] for one in found.records] == [0, 1, 2, 3, 4]
    assert len({one.event["user"] for one in found.records}) == 1
    assert b"Alice" not in (tmp_path / "c.jsonl").read_bytes()
    assert (found.end.ended_by, found.end.counts.events) == ("time", 5)
    assert found.end.replaced == {"user": 5}
    assert counts == [1, 2, 3, 4, 5]


def test_it_ends_at_the_number_of_events(window: type[Window], take: Take) -> None:
    taken, found = take(max_events=3)
    assert (taken.events, found.end.ended_by) == (3, "count")


def test_it_ends_at_the_size_of_the_file(window: type[Window], take: Take, tmp_path: Path) -> None:
    window.records_there = tuple(record(n, b'{"n": "%s"}' % (b"x" * 100_000)) for n in range(50))
    taken, found = take(max_bytes=1 << 20)
    assert (taken.events, taken.ended_by, taken.bytes) == (9, "size", (tmp_path / "c.jsonl").stat().st_size)
    assert 900_000 < taken.bytes <= 1 << 20
    assert found.end.ended_by == "size"


def test_interrupted_it_leaves_what_it_has(window: type[Window], take: Take) -> None:
    looks = iter([False, False, True, True, True])
    taken, found = take(stop=lambda: next(looks))
    assert (taken.events, found.end.ended_by, len(found.records)) == (2, "interrupt", 2)


def test_when_the_broker_goes_it_leaves_what_it_has(window: type[Window], take: Take, tmp_path: Path) -> None:
    window.fails = True
    with pytest.raises(StackError, match="the broker is gone"):
        take()
    found = read_capture(tmp_path / "c.jsonl")
    assert (found.end.ended_by, len(found.records)) == ("error", 5)


def test_text_is_kept_where_that_is_asked_for(window: type[Window], take: Take) -> None:
    _, found = take(keep_text=True)
    assert {one.event["user"] for one in found.records} == {"Alice"}
    assert (found.header.text_kept, found.end.replaced) == (True, {})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b'{"user": "Alice', "unexpected end of data"),
        (b'{"user": "\xff"}', "str is not valid UTF-8"),
        (b"", "zero-length"),
        (None, "the record has no value"),
        (b'{"a": "e+", "n": 123456789012345678901234567890}', "an integer is beyond 64 bits"),
        (b'{"n": 18446744073709551616}', "an integer is beyond 64 bits"),
        (b"[" * 2000 + b"]" * 2000, "depth limit exceeded"),
        (b"[" * 600 + b"]" * 600, "ecursion|nested"),
        (b"[" * 300 + b"]" * 300, "nested"),  # read and gone through, but not written
    ],
)
def test_what_does_not_parse_is_there_by_its_length_a_digest_and_the_reason(value: bytes | None, reason: str) -> None:
    stand_ins = StandIns()
    replacement = Replacement(stand_ins)
    found = captured(record(1, value), replacement, stand_ins)
    assert found.unparsed is not None
    assert (found.bytes, found.event) == (len(value or b""), None)
    assert re.search(reason, found.unparsed.reason)
    again, other = (captured(record(2, one), replacement, stand_ins).unparsed for one in (value, b"{"))
    assert again is not None
    assert other is not None
    assert found.unparsed.digest == again.digest != other.digest
    assert "Alice" not in orjson.dumps(found.model_dump()).decode()


def test_a_float_is_no_integer_and_the_largest_integer_stays() -> None:
    stand_ins = StandIns()
    found = captured(record(1, b'{"a": 1e300, "n": 18446744073709551615}'), Replacement(stand_ins), stand_ins)
    assert found.event == {"a": 1e300, "n": 18446744073709551615}
