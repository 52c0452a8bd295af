"""Records come by their time, the first of an event stands, and each event leaves once and whole."""

from collections import Counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer import record_merge
from pipeline.consumer.claims import Suppressed
from pipeline.consumer.consume import Counts, line, once
from pipeline.consumer.delivery import Delivery
from pipeline.consumer.record_merge import Stretch, oldest_first
from pipeline.consumer.seen_events import Remembered, Seen, SeenEvents
from pipeline.records.claim_check import Claim
from pipeline.records.suppression import Suppression
from tests.unit.pipeline.consumer.records import an_error, an_output
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row

CLAIM = Claim("claims", "ab/abc", 9, "abc")
WHOLE = b'{"meta":{"id":"0"},"body":"all of it"}'
TIMES = st.lists(st.lists(st.integers(0, 20), max_size=6), min_size=1, max_size=3)


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


def stretch_of(*partitions: list[int], name: str = "out", value: bytes = b"v") -> Stretch:
    """A topic whose records have these times, all of it; every second offset is a gap."""
    rows = [
        Row(partition, at * 2, time, value=value)
        for partition, times in enumerate(partitions)
        for at, time in enumerate(times)
    ]
    ends = {partition: len(times) * 2 for partition, times in enumerate(partitions)}
    topic = FakeConsumer(rows, partitions=len(partitions), ends=ends, topic=name).as_topic()
    bounds = topic.bounds()
    return Stretch(topic, bounds.first, bounds.end)


def read(*stretches: Stretch) -> list[tuple[str, int, int, int]]:
    """Topic, partition, offset and time of each record."""
    return [
        (topic.topic, record.partition, record.offset, record.timestamp_ms) for topic, record in oldest_first(stretches)
    ]


@given(TIMES, TIMES, st.sampled_from([1, 3000, 1_000_000]))
def test_records_come_once_and_in_their_order(
    outputs: list[list[int]], errors: list[list[int]], part_bytes: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_merge, "PART_BYTES", part_bytes)
        found = read(stretch_of(*outputs), stretch_of(*errors, name="error"))
    for name, partitions in (("out", outputs), ("error", errors)):
        for partition, times in enumerate(partitions):
            own = [(offset, time) for topic, number, offset, time in found if (topic, number) == (name, partition)]
            assert own == [(at * 2, time) for at, time in enumerate(times)]
    assert len(found) == sum(map(len, outputs + errors))


@given(TIMES, TIMES)
def test_where_partitions_go_by_time_so_does_the_whole(outputs: list[list[int]], errors: list[list[int]]) -> None:
    found = read(stretch_of(*map(sorted, outputs)), stretch_of(*map(sorted, errors), name="error"))
    assert [time for *_, time in found] == sorted(time for times in outputs + errors for time in times)


def test_of_one_moment_the_first_topic_comes_first() -> None:
    found = read(stretch_of([5]), stretch_of([5], name="error"))
    assert [topic for topic, *_ in found] == ["out", "error"]


def test_no_more_than_a_part_of_a_partition_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the first topic is older, so the other waits, with one record where that is more than a part."""
    monkeypatch.setattr(record_merge, "PART_BYTES", 2000)
    outputs, errors = stretch_of([1] * 50, value=bytes(3000)), stretch_of([2] * 50, name="error", value=bytes(3000))
    found = oldest_first([outputs, errors])
    next(found)
    polls = errors.topic._consumer.polls
    assert polls == 1
    for _ in range(49):
        assert next(found)[0] is outputs.topic
    assert errors.topic._consumer.polls == polls
    assert len(list(found)) == 50


def test_a_stretch_begins_and_ends_where_it_says() -> None:
    whole = stretch_of([1, 2, 3, 4], [1, 2])
    part = whole._replace(first={0: 2, 1: 4}, end={0: 6, 1: 4})
    assert read(part) == [("out", 0, 2, 2), ("out", 0, 4, 3)]


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
