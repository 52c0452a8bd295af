"""Adding what tasks tell, as Spark does it."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.worker.task_results import ListParam


@given(st.lists(st.lists(st.integers(), max_size=3), max_size=4))
def test_parts_add_up_in_any_grouping(parts: list[list[int]]) -> None:
    """Spark adds what a task tells one by one, and then what each task brings."""
    param = ListParam[int]()
    one_by_one = param.zero([])
    for part in parts:
        for item in part:
            one_by_one = param.addInPlace(one_by_one, [item])
    by_part = param.zero([99])
    for part in parts:
        by_part = param.addInPlace(by_part, part)
    assert one_by_one == by_part == [item for part in parts for item in part]


def test_a_task_begins_with_nothing_and_shares_nothing() -> None:
    param = ListParam[str]()
    before = ["of the driver"]
    mine, other = param.zero(before), param.zero(before)
    param.addInPlace(mine, ["told"])
    assert (mine, other, before) == (["told"], [], ["of the driver"])
