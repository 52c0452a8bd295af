from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.entry import COUNTED_BYTES, OVERHEAD_BYTES, Entry, order
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.making import ENTRIES, POSITIONS, entry


def test_a_page_is_a_key_within_a_partition_of_a_topic() -> None:
    assert entry(3, "p").page == ("source", 0, b"p")
    assert entry(3, key=None).page == ("source", 0, None)


@given(ENTRIES)
def test_an_entry_counts_with_all_that_it_holds(made: Entry) -> None:
    headers = sum(len(name) + len(value) for name, value in made.headers)
    counted = COUNTED_BYTES * len(made.counted or ())
    assert made.size == len(made.key or b"") + len(made.value or b"") + headers + counted + OVERHEAD_BYTES


@given(st.lists(POSITIONS))
def test_positions_sort_by_topic_then_partition_then_offset(positions: list[Position]) -> None:
    by_hand = sorted(positions, key=lambda position: position.offset)
    by_hand.sort(key=lambda position: position.partition)
    by_hand.sort(key=lambda position: position.topic)
    assert sorted(positions, key=order) == by_hand
