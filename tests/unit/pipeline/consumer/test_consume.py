"""Each event leaves once and whole, whatever was repeated or contradicted."""

import orjson
from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer.claims import Suppressed
from pipeline.consumer.consume import Counts, line, once
from pipeline.consumer.seen_events import SeenEvents
from pipeline.records.claim_check import Claim
from pipeline.records.suppression import Suppression
from tests.unit.pipeline.consumer.records import an_error, an_output

CLAIM = Claim("claims", "ab/abc", 9, "abc")
WHOLE = b'{"meta":{"id":"0"},"body":"all of it"}'


def never(_claim: Claim, _place: str) -> bytes:
    raise AssertionError("nothing is claimed")


@given(st.lists(st.integers(0, 5)))
def test_repeats_are_removed_and_the_first_keep_their_order(numbers: list[int]) -> None:
    counts = Counts()
    left = list(once(map(an_output, numbers), SeenEvents(9), never, counts))
    assert [int(one.id) for one, _value in left] == list(dict.fromkeys(numbers))
    assert (counts.records, counts.repeats) == (len(numbers), len(numbers) - len(left))
    assert counts.differing == 0


def test_a_repeat_with_other_bytes_is_counted_apart() -> None:
    counts = Counts()
    left = list(once([an_output(1), an_output(1, note="other")], SeenEvents(9), never, counts))
    assert [value for _one, value in left] == [an_output(1).value]
    assert (counts.repeats, counts.differing) == (1, 1)


def test_the_first_of_output_and_error_event_stands() -> None:
    counts = Counts()
    records = [an_output(1), an_error(1), an_error(2), an_output(2), an_error(2), an_error(3)]
    left = list(once(records, SeenEvents(9), never, counts))
    assert [one.id for one, _value in left] == ["1"]
    assert counts == Counts(records=6, repeats=1, errors=2, errors_after_output=1, outputs_after_error=1)
    assert str(counts) == (
        "6 records, 0 claim checks resolved, 1 repeats removed (0 with other bytes), 2 error events, "
        "conflicts removed: 1 error after output, 1 output after error"
    )


def test_a_source_that_was_made_again_costs_no_event() -> None:
    """Its offsets begin at 0 again, with other events."""
    old = [an_output(10, offset=0), an_output(11, offset=1), an_error(12, offset=2)]
    new = [an_output(20, offset=0), an_error(21, offset=1), an_output(22, offset=2), an_output(23, offset=3)]
    counts = Counts()
    left = list(once(old + new, SeenEvents(9), never, counts))
    assert [one.id for one, _value in left] == ["10", "11", "20", "22", "23"]
    assert counts == Counts(records=7, errors=2)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([an_output, an_error]), st.sampled_from(["", "other"]))),
    st.integers(1, 5),
)
def test_each_record_is_counted_once(steps: list[tuple[int, type, str]], limit: int) -> None:
    counts = Counts()
    records = [make(number, note=note) for number, make, note in steps]
    left = list(once(records, SeenEvents(limit), never, counts))
    removed = counts.repeats + counts.errors_after_output + counts.outputs_after_error
    assert len(left) + counts.errors + removed == counts.records == len(steps)
    assert counts.differing <= counts.repeats


def test_a_claim_check_is_resolved_once() -> None:
    asked = []

    def resolve(claim: Claim, place: str) -> bytes:
        asked.append((claim, place))
        return WHOLE

    counts = Counts()
    left = list(once([an_output(0, headers=CLAIM.headers())] * 2, SeenEvents(9), resolve, counts))
    assert [value for _one, value in left] == [WHOLE]
    assert asked == [(CLAIM, "out/0/0")]
    assert (counts.claims, counts.repeats) == (1, 1)


def test_a_line_is_the_event_with_where_it_comes_from() -> None:
    text = line(an_output(0, headers=CLAIM.headers()), WHOLE)
    assert b"\n" not in text
    assert orjson.loads(text) == {
        "id": "0",
        "source": {"topic": "source", "partition": 0, "offset": 0},
        "claim_check": "ab/abc",
        "suppressed": None,
        "suppresses": None,
        "event": {"meta": {"id": "0"}, "body": "all of it"},
    }
    assert orjson.loads(line(an_output(1), an_output(1).value))["claim_check"] is None


def test_a_suppressed_payload_is_counted_apart_and_leaves_without_content() -> None:
    counts, gone = Counts(), Suppressed(suppressed="page", by="source/0/7")
    record = an_output(0, headers=CLAIM.headers())
    ((delivery, value),) = once([record], SeenEvents(9), lambda *_: gone, counts)
    assert (counts.claims, counts.suppressed) == (0, 1)
    assert "; 1 claim checks suppressed" in str(counts)
    shown = orjson.loads(line(delivery, value))
    assert (shown["suppressed"], shown["event"]) == ("page", orjson.loads(record.value))


def test_a_record_says_what_it_suppresses() -> None:
    headers = Suppression("enwiki", 7, 28674).headers()
    assert orjson.loads(line(an_output(1, headers=headers), an_output(1).value))["suppresses"] == "revision"
