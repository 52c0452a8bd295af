from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from devkit.observe.checkpoint import OffsetRange
from devkit.programs.batches import PlannedBatches


def range_of(batch: int) -> OffsetRange:
    """Batch N takes N + 1 offsets of each of two partitions."""
    return OffsetRange({("t", 0): 10, ("t", 1): 5}, {("t", 0): 11 + batch, ("t", 1): 6 + batch})


def fed(*numbers: int) -> PlannedBatches:
    batches = PlannedBatches()
    for number in numbers:
        batches.begin(number)
    return batches


def test_says_which_beginning_is_a_repetition() -> None:
    batches = PlannedBatches()
    assert [batches.begin(number) for number in (0, 1, 1, 2, 1)] == [False, False, True, False, True]


def test_only_repeated_batches_are_looked_up() -> None:
    """The first offset file of a batch may be gone by the end of an arm."""
    asked: list[int] = []

    def remember(batch: int) -> OffsetRange:
        asked.append(batch)
        return range_of(batch)

    fed(0, 1, 2, 2).replayed_offsets(remember)
    assert asked == [2]


@given(st.lists(st.integers(0, 5)))
@example([0, 1, 1, 2, 2, 2])
def test_each_repetition_counts_in_any_order(numbers: list[int]) -> None:
    batches, counts = fed(*numbers), Counter(numbers)
    assert batches.replays == max(counts.values(), default=1) - 1
    again = [range_of(batch) for batch, count in sorted(counts.items()) for _ in range(count - 1)]
    assert batches.replayed_offsets(range_of) == sum(batch.size for batch in again)
    assert sorted(batches.replayed_ranges(range_of), key=str) == sorted(again, key=str)


def test_the_numbers_of_another_checkpoint_are_no_repetitions() -> None:
    batches = fed(0, 1, 1)
    batches.begin_anew()
    assert [batches.begin(number) for number in (0, 1, 1)] == [False, False, True]
    assert (batches.any_begun, batches.replays) == (True, 1)
    assert batches.replayed_ranges(range_of) == (range_of(1),)
