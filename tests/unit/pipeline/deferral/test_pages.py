import random

from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.entry import Entry
from pipeline.deferral.pages import Pages
from tests.unit.pipeline.deferral.making import entry, offsets

STEPS = st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 12), st.binary(max_size=9)), max_size=60)


def stored(*entries: Entry) -> Pages:
    pages = Pages()
    for one in entries:
        pages.put(one)
    return pages


@given(STEPS)
def test_its_figures_are_those_of_a_plain_dictionary(steps: list[tuple[str, int, bytes]]) -> None:
    pages, model = Pages(), dict[int, Entry]()
    for step, offset, value in steps:
        if step == "put":
            model[offset] = entry(offset, f"p{offset % 3}", value=value)
            pages.put(model[offset])
        elif offset in model:
            pages.remove(model.pop(offset).position)
        assert len(pages) == len(model)
        assert pages.bytes == sum(one.size for one in model.values())
        assert pages.count == len({one.page for one in model.values()})
        assert set(pages) == {one.page for one in model.values()}
        assert all(pages.get(one.position) == one for one in model.values())
    assert pages.get(entry(99).position) is None


@given(st.permutations(range(8)))
def test_a_pages_entries_come_in_the_order_of_the_source(order: list[int]) -> None:
    pages = stored(*(entry(offset) for offset in order))
    assert offsets(pages.entries(entry(0).page)) == list(range(8))


def test_the_page_that_was_put_aside_first_comes_first() -> None:
    pages = stored(entry(5, "late"), entry(1, "first"), entry(0, "late"))
    assert [page[2] for page in pages] == [b"late", b"first"]


def test_an_entry_that_is_replaced_keeps_its_rank() -> None:
    pages = stored(entry(0, "a"), entry(1, "b"))
    pages.put(entry(0, "a", stuck=True))
    assert [page[2] for page in pages] == [b"a", b"b"]
    assert pages.has_stuck(entry(0, "a").page)


def test_a_page_that_comes_back_has_to_queue_again() -> None:
    pages = stored(entry(0, "a"), entry(1, "b"))
    pages.remove(entry(0, "a").position)
    pages.put(entry(2, "a"))
    assert [page[2] for page in pages] == [b"b", b"a"]


def test_a_page_is_due_when_its_last_entry_is() -> None:
    moments = random.Random(1).sample(range(100), 5)
    pages = stored(*(entry(number, not_before_ms=moment) for number, moment in enumerate(moments)))
    assert pages.due_ms(entry(0).page) == max(moments)
