"""The first record of an event stands, and each other one is of one kind."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer.delivery import Delivery
from pipeline.consumer.seen_events import Remembered, Seen, SeenEvents
from tests.unit.pipeline.consumer.records import an_error, an_output


@pytest.mark.parametrize(
    ("records", "seen"),
    [
        # What stands is the first, whatever came between.
        ([an_output(1), an_error(1), an_output(1), an_error(1)], ["new", "contradicts", "repeat", "contradicts"]),
        ([an_output(1), an_output(1, note="other"), an_output(1)], ["new", "differs", "repeat"]),
        # Sent again, or moved to another cluster: known by its id, and its output is new where it ended in an error.
        ([an_output(1), an_output(1, offset=9)], ["new", "differs"]),
        ([an_output(1), an_error(1, offset=9)], ["new", "contradicts"]),
        ([an_error(1), an_error(1, offset=9)], ["new", "differs"]),
        ([an_error(1), an_output(1, offset=9)], ["new", "new"]),
        ([an_error(1), an_output(1, offset=9), an_error(1, offset=9)], ["new", "new", "contradicts"]),
        ([an_error(1), an_error(1, offset=9), an_output(1, offset=9)], ["new", "differs", "contradicts"]),
        ([an_error(1), an_output(1), an_output(1, offset=9)], ["new", "contradicts", "new"]),
        # The source was made again, and has other events at the same positions.
        ([an_output(1), an_output(2, offset=1)], ["new", "new"]),
        ([an_output(1), an_error(2, offset=1)], ["new", "new"]),
        ([an_error(1), an_output(2, offset=1)], ["new", "new"]),
        ([an_error(1), an_error(2, offset=1)], ["new", "new"]),
        (
            [an_output(1), an_error(2, offset=1), an_error(1), an_output(2, offset=1)],
            ["new", "new", *["contradicts"] * 2],
        ),
        # Of an event without an id its position is known.
        ([an_output(1, has_id=False), an_error(1, has_id=False)], ["new", "contradicts"]),
        ([an_error(1, has_id=False), an_output(1, has_id=False)], ["new", "contradicts"]),
        ([an_error(1, has_id=False), an_error(2, offset=1, has_id=False)], ["new", "differs"]),
        ([an_error(1, has_id=False), an_output(2, offset=1)], ["new", "new"]),
        ([an_output(1), an_error(2, offset=1, has_id=False)], ["new", "new"]),
        # Several outputs of one event.
        ([an_output(1), an_output(1, output_id="b"), an_error(1)], ["new", "new", "contradicts"]),
        ([an_error(1), an_output(1), an_output(1, output_id="b")], ["new", "contradicts", "contradicts"]),
    ],
)
def test_what_each_record_is(records: list[Delivery], seen: list[Seen]) -> None:
    events = SeenEvents(9)
    assert [events.see(record) for record in records] == seen


STEPS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([an_output, an_error]), st.sampled_from(["", "other"])))


@given(STEPS)
def test_with_room_for_all_one_record_of_each_event_is_new(steps: list[tuple[int, type, str]]) -> None:
    events = SeenEvents(6)
    first: dict[int, Delivery] = {}
    for number, make, note in steps:
        record = make(number, note=note)
        stands = first.setdefault(number, record)
        expected: Seen = "new" if stands is record else "repeat"
        if stands.kind != record.kind:
            expected = "contradicts"
        elif stands.fingerprint != record.fingerprint:
            expected = "differs"
        assert events.see(record) == expected


@given(STEPS, st.integers(1, 3))
def test_what_stands_among_the_last_events_is_never_new_again(steps: list[tuple[int, type, str]], limit: int) -> None:
    events = SeenEvents(limit)
    for at, (number, make, note) in enumerate(steps):
        recent = list(dict.fromkeys(one for one, *_ in reversed(steps[:at])))[:limit]
        if events.see(make(number, note=note)) == "new":
            assert number not in recent


def is_new(remembered: Remembered[int], key: int) -> bool:
    new = remembered.get(str(key)) is None
    if new:
        remembered.put(str(key), key)
    return new


@given(st.lists(st.integers(0, 20)))
def test_with_room_for_all_each_key_is_new_once(keys: list[int]) -> None:
    remembered: Remembered[int] = Remembered(21)
    assert Counter(key for key in keys if is_new(remembered, key)) == Counter(set(keys))


@given(st.lists(st.integers(0, 20)), st.integers(1, 5))
def test_what_was_seen_among_the_last_keys_is_known(keys: list[int], limit: int) -> None:
    """And no more keys than the limit are kept, whatever comes."""
    remembered: Remembered[int] = Remembered(limit)
    for at, key in enumerate(keys):
        recent = list(dict.fromkeys(reversed(keys[:at])))[:limit]
        assert is_new(remembered, key) is (key not in recent)
        assert len(remembered) <= limit


def test_what_was_put_last_is_known() -> None:
    remembered: Remembered[str] = Remembered(9)
    remembered.put("a", "1")
    remembered.put("a", "2")
    assert (remembered.get("a"), len(remembered)) == ("2", 1)
