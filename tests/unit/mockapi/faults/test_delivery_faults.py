"""The faults that change how an answer is delivered, and the place in it where they act."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from mockapi.faults.registry import FAULTS
from mockapi.rules.model import Rule
from mockapi.server.delivery import AS_IT_IS, HALF, BrokenText, BytePlace, Ending, KeepAlive, Length, Offset, Pace
from mockapi.server.reply import PIECE_BYTES
from mockapi.values.offset import parse, text
from tests.unit.mockapi.faults.planned import delivery, plan, problem

FIVE_BYTES, TENTH, KIBIBYTE = Offset(count=5), Offset(share=0.1), Offset(count=1024)
CHANGES: list[tuple[list[dict[str, Any]], str, object]] = [
    # what the rules do in their order, the part of the delivery, its value
    ([{"charset": "iso-8859-1"}], "charset", "iso-8859-1"),
    ([{"charset": "none"}], "charset", ""),
    ([{"content_encoding": "gzip"}], "coding", "gzip"),
    ([{"content_encoding": "x-own"}], "coding", "x-own"),
    ([{"content_encoding": "identity"}], "coding", ""),
    ([{"content_length": "compressed"}], "length", Length("compressed")),
    ([{"content_length": "negative"}], "length", Length("negative")),
    ([{"content_length": {"off_by": 10}}], "length", Length("off by", 10)),
    ([{"content_length": {"off_by": -10}}], "length", Length("off by", -10)),
    ([{"content_length": "absent"}, {"content_length": "decoded"}], "length", Length("decoded")),
    ([{"dribble": {"bytes": 100, "every": "500ms"}}], "pace", Pace(100, 0.5)),
    ([{"latency_through_body": "9s"}, {"dribble": {"bytes": 1, "every": "1s"}}], "pace", Pace(1, 1.0)),
    ([{"latency_through_body": "9s"}, {"dribble": {"bytes": 1, "every": "1s"}}], "through_body", timedelta(0)),
    ([{"invalid_utf8": 3}], "broken", BrokenText(3, HALF)),
    ([{"invalid_utf8": 3}], "plain", True),
    ([{"invalid_utf8": {"bytes": 2, "at": "1KiB"}}], "broken", BrokenText(2, KIBIBYTE)),
    ([{"keep_alive": 3}], "keep_alive", KeepAlive(3, announced=False)),
    ([{"keep_alive": {"requests": 1, "announce": True}}], "keep_alive", KeepAlive(1, announced=True)),
    ([{"truncate": "50%"}], "ending", Ending(BytePlace.IN_BODY, HALF, chunked=False)),
    ([{"truncate": 0}], "ending", Ending(BytePlace.IN_BODY, Offset(count=0), chunked=False)),
    (
        [{"truncate": {"after": "1KiB", "end": "reset", "length": "chunked"}}],
        "ending",
        Ending(BytePlace.IN_BODY, KIBIBYTE, reset=True, chunked=True),
    ),
    ([{"latency": "1s"}, {"hang": True}], "hang", "r1"),
    ([{"hang": True}, {"close": {}}, {"reset": "before body"}], "hang", None),
    ([{"hang": True}, {"close": {}}, {"reset": "before body"}], "ending", Ending(BytePlace.BEFORE_BODY, reset=True)),
    ([{"close": {}}, {"hang": True}], "ending", None),
]


@pytest.mark.parametrize(("dos", "part", "value"), CHANGES, ids=[f"{part} of {dos}" for dos, part, _ in CHANGES])
def test_the_last_fault_for_a_part_of_the_delivery_decides_it(dos: list[Any], part: str, value: object) -> None:
    assert getattr(delivery(*dos), part) == value


@pytest.mark.parametrize("name", ["reset", "close"])
@pytest.mark.parametrize(
    ("fault", "place", "offset"),
    [
        ("before headers", BytePlace.BEFORE_HEADERS, HALF),
        ({}, BytePlace.BEFORE_HEADERS, HALF),
        ("before body", BytePlace.BEFORE_BODY, HALF),
        ({"at": "in headers", "after": 5}, BytePlace.IN_HEADERS, FIVE_BYTES),
        ({"at": "in body", "after": "10%"}, BytePlace.IN_BODY, TENTH),
    ],
)
def test_reset_and_close_end_the_answer_at_a_place(name: str, fault: Any, place: BytePlace, offset: Offset) -> None:
    assert delivery({name: fault}).ending == Ending(place, offset, reset=name == "reset")


@given(st.integers(1, 1 << 40))
def test_the_steps_of_a_bandwidth_together_make_the_rate(bytes_a_second: int) -> None:
    pace = delivery({"bandwidth": bytes_a_second}).pace
    assert pace is not None
    assert 1 <= pace.step_bytes <= PIECE_BYTES
    assert pace.step_bytes / pace.every_s == pytest.approx(bytes_a_second)
    assert not pace.at_once


def ending(do: dict[str, Any], **at: Any) -> Ending:
    made = delivery(do, **at).ending
    assert made is not None
    return made


@given(st.integers(0, 2**64), st.integers(1, 9), st.integers(1, 2_000))
def test_garbage_is_so_many_bytes_that_are_no_http(seed: int, attempt: int, count: int) -> None:
    made = ending({"garbage": {"bytes": count}}, seed=seed, attempt=attempt)
    assert len(made.then) == count
    assert made.then[0] > 127
    assert made == ending({"garbage": {"bytes": count}}, seed=seed, attempt=attempt)


def test_garbage_takes_the_place_of_all_or_of_the_body_and_differs_by_attempt() -> None:
    assert ending({"garbage": {}}).place is BytePlace.BEFORE_HEADERS
    assert ending({"garbage": "after headers"}).place is BytePlace.BEFORE_BODY
    assert ending({"garbage": {}}).then != ending({"garbage": {}}, attempt=2).then


@pytest.mark.parametrize(
    ("fault", "first_line", "offset"),
    [
        ("not hex", b"g5", HALF),
        ("negative", b"-5", HALF),
        ("huge", b"f" * 17, HALF),
        ("short", b"ff", HALF),
        ("no line end", b"5", HALF),
        ({"how": "short", "after": 0}, b"ff", Offset(count=0)),
    ],
)
def test_a_malformed_chunk_breaks_the_framing(fault: object, first_line: bytes, offset: Offset) -> None:
    made = ending({"malformed_chunk": fault})
    assert (made.place, made.offset, made.chunked, made.reset) == (BytePlace.IN_BODY, offset, True, False)
    assert made.then.partition(b"\r\n")[0] == first_line


def test_which_request_is_the_last_of_a_connection_is_up_to_the_client() -> None:
    assert not FAULTS["keep_alive"].deterministic


def test_a_request_that_came_in_before_a_refusal_is_answered() -> None:
    made = plan({"refuse": "10s"})
    assert (made.delivery, made.rules) == (AS_IT_IS, ("r0",))


def test_a_refusal_ends_by_its_own_time_or_with_its_rule() -> None:
    assert "give it a time, such as refuse: 10s, or the rule a ttl" in problem({"refuse": {}})
    assert problem({"refuse": {}}, ttl="5s") == problem({"refuse": "5s"}) == ""


def test_a_refusal_can_be_written_and_read_again() -> None:
    own = Rule.model_validate({"name": "r", "do": {"refuse": {"for": "5s"}}})
    assert Rule.model_validate_json(own.model_dump_json(by_alias=True)) == own


@pytest.mark.parametrize(
    "choice", [{"when": {"path": "/w/*"}}, {"when": {"window": {"from": "1s"}}}, {"times": 1}], ids=str
)
def test_a_refusal_cannot_choose_among_requests(choice: dict[str, object]) -> None:
    assert "refuse cannot choose among requests" in problem({"refuse": "5s"}, **choice)


@pytest.mark.parametrize(
    ("written", "offset"),
    [
        (0, Offset(count=0)),
        ("10KiB", Offset(count=10_240)),
        ("50%", Offset(share=0.5)),
        ("0%", Offset(share=0.0)),
        (0.25, Offset(share=0.25)),
    ],
)
def test_a_place_is_a_number_of_bytes_or_a_share(written: object, offset: Offset) -> None:
    assert parse(written) == offset
    assert parse(text(offset)) == offset


@pytest.mark.parametrize("written", [-1, "-1KiB", "150%", 1.5, "half", None, True])
def test_all_else_is_refused(written: object) -> None:
    with pytest.raises(PydanticCustomError, match="not a place in an answer"):
        parse(written)


@given(st.integers(0, 1 << 40), st.one_of(st.integers(0, 1 << 40).map(str), st.floats(0, 1)))
def test_a_place_is_never_beyond_the_end(total: int, written: str | float) -> None:
    offset = Offset(share=written) if isinstance(written, float) else Offset(count=int(written))
    assert 0 <= offset.within(total) <= total
