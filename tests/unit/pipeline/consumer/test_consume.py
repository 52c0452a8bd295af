"""Each event leaves once and whole, whatever was repeated."""

import orjson
from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer.consume import Counts, line, once
from pipeline.consumer.delivery import Delivery, read
from pipeline.consumer.remembered import Remembered
from pipeline.records.claim_check import Claim
from pipeline.records.record import Position

CLAIM = Claim("claims", "ab/abc", 9, "abc")
WHOLE = b'{"meta":{"id":"0"},"body":"all of it"}'


def delivery(number: int, *, claimed: bool = False, note: str = "") -> Delivery:
    value = orjson.dumps({"meta": {"id": str(number)}, "note": note})
    headers = Position("source", 0, number).headers()
    return read(f"out/0/{number}", value, headers + CLAIM.headers() if claimed else headers)


def never(_claim: Claim, _place: str) -> bytes:
    raise AssertionError("nothing is claimed")


@given(st.lists(st.integers(0, 5)))
def test_repeats_are_removed_and_the_first_keep_their_order(numbers: list[int]) -> None:
    counts = Counts()
    left = list(once(map(delivery, numbers), Remembered(9), never, counts))
    assert [int(one.id) for one, _value in left] == list(dict.fromkeys(numbers))
    assert (counts.records, counts.repeats) == (len(numbers), len(numbers) - len(left))
    assert counts.differing == 0


def test_a_repeat_with_other_bytes_is_counted_apart() -> None:
    counts = Counts()
    left = list(once([delivery(1), delivery(1, note="other")], Remembered(9), never, counts))
    assert [value for _one, value in left] == [delivery(1).value]
    assert (counts.repeats, counts.differing) == (1, 1)


def test_a_claim_check_is_resolved_once() -> None:
    asked = []

    def resolve(claim: Claim, place: str) -> bytes:
        asked.append((claim, place))
        return WHOLE

    counts = Counts()
    left = list(once([delivery(0, claimed=True)] * 2, Remembered(9), resolve, counts))
    assert [value for _one, value in left] == [WHOLE]
    assert asked == [(CLAIM, "out/0/0")]
    assert (counts.claims, counts.repeats) == (1, 1)


def test_a_line_is_the_event_with_where_it_comes_from() -> None:
    text = line(delivery(0, claimed=True), WHOLE)
    assert b"\n" not in text
    assert orjson.loads(text) == {
        "id": "0",
        "source": {"topic": "source", "partition": 0, "offset": 0},
        "claim_check": "ab/abc",
        "event": {"meta": {"id": "0"}, "body": "all of it"},
    }
    assert orjson.loads(line(delivery(1), delivery(1).value))["claim_check"] is None
