from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.entry import Entry, Page, rests
from pipeline.deferral.pages import Pages
from tests.unit.pipeline.deferral.making import entry, offsets

STEPS = st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 12), st.binary(max_size=9)), max_size=60)


def test_no_page_rests_for_longer_than_an_entry_may() -> None:
    """What seems to was written before the time of day was set back, by this process or by the one before."""
    day_ms = 86_400_000
    written = Pages(longest_rest_ms=600_000)
    written.put(entry(1, not_before_ms=day_ms + 5000))
    assert written.due(day_ms, stuck=False) == [], "it rests for five seconds"
    assert written.due(0, stuck=False) == [entry(1).page]
    folded = Pages(longest_rest_ms=600_000)
    folded.put(entry(1, not_before_ms=day_ms))
    assert folded.due(0, stuck=False) == [entry(1).page]
    folded.put(entry(2, "q", not_before_ms=day_ms))
    assert len(folded.due(1, stuck=False)) == 2


@given(STEPS, st.integers(0, 4), st.sampled_from([15, 10**9]))
def test_what_it_hands_out_is_that_of_a_plain_list(
    steps: list[tuple[str, int, bytes]], spread: int, longest_ms: int
) -> None:
    """Ranks, due times, stuck pages and the frozen copy are kept up to date; here they are worked out each time."""
    pages, model = Pages(longest_ms), dict[int, Entry]()
    for number, (step, offset, value) in enumerate(steps):
        if step == "put":
            changes = {"stuck": len(value) % 2 == 1, "not_before_ms": 10 * len(value), "value": value}
            # Replaced in its place: a plain dictionary keeps the rank of what was there, as pages have to.
            model[offset] = entry(offset, f"p{offset % (spread + 1)}", **changes)
            pages.put(model[offset])
        elif offset in model:
            pages.remove(model.pop(offset).position)
        by_page: dict[Page, list[Entry]] = {}
        for one in model.values():
            by_page.setdefault(one.page, []).append(one)
        assert list(pages) == list(by_page)
        assert (len(pages), pages.bytes) == (len(model), sum(one.size for one in model.values()))
        assert (pages.count, set(pages)) == (len(by_page), set(by_page))
        for page, entries in by_page.items():
            assert list(pages.entries(page)) == sorted(entries, key=lambda one: one.position.offset)
            assert [pages.get(one.position) for one in entries] == entries
        stuck = {page: any(one.kind == "stuck" for one in entries) for page, entries in by_page.items()}
        assert list(pages.unstuck()) == [page for page in by_page if not stuck[page]]
        now_ms = 10 * (number % 7)  # back and forth, as the time of day may go
        for kind in (True, False):
            assert set(pages.due(now_ms, stuck=kind)) == {
                page
                for page, entries in by_page.items()
                if stuck[page] is kind and not rests(max(one.not_before_ms for one in entries), now_ms, longest_ms)
            }
        left_out = [one for one in model.values() if one.position.offset % 3 == number % 3]
        rest = sorted((one for one in model.values() if one not in left_out), key=lambda one: one.position.offset)
        blocked, positions = pages.frozen(without=left_out)
        assert positions == {one.position for one in rest}
        assert blocked == {one.page: one.position for one in reversed(rest)}


def test_a_frozen_copy_stays_as_it_was() -> None:
    pages = Pages()
    pages.put(entry(1))
    pages.put(entry(2))
    blocked, positions = pages.frozen(without=[])
    pages.remove(entry(1).position)
    pages.put(entry(3, "q"))
    assert pages.get(entry(1).position) is None
    assert dict(blocked) == {entry(1).page: entry(1).position}
    assert offsets(sorted(positions, key=lambda position: position.offset)) == [1, 2]


@given(STEPS, st.lists(st.sampled_from(["enwiki", "dewiki", None]), min_size=13, max_size=13))
def test_each_page_counts_for_the_wiki_that_was_asked_first(
    steps: list[tuple[str, int, bytes]], wikis: list[str | None]
) -> None:
    """With what was never asked for and stands on the page; the wiki is forgotten with the page."""
    pages, model, of_page = Pages(), dict[int, Entry](), dict[Page, str | None]()
    for step, offset, value in steps:
        if step == "put":
            one = model[offset] = entry(offset, f"p{offset % 3}", value=value, wiki_id=wikis[offset])
            pages.put(one)
            of_page[one.page] = of_page.get(one.page) or one.wiki_id
        elif offset in model:
            pages.remove(model.pop(offset).position)
        of_page = {page: wiki for page, wiki in of_page.items() if page in {one.page for one in model.values()}}
        for wiki in ("enwiki", "dewiki"):
            own = [one.size for one in model.values() if of_page[one.page] == wiki]
            assert pages.size_of([wiki, "frwiki"]) == (len(own), sum(own))
        assert {page: pages.wiki_of(page) for page in of_page} == of_page
