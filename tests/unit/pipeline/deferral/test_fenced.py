import pickle

from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.pages import BlockedPages, Positions
from pipeline.records.record import Position

SOURCES = st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 3))
OFFSETS = st.dictionaries(SOURCES, st.sets(st.integers(0, 9)))
LOWEST = st.dictionaries(SOURCES, st.dictionaries(st.none() | st.binary(max_size=2), st.integers(0, 9)))


@given(OFFSETS)
def test_it_is_the_set_of_its_positions_before_and_after_the_way(offsets: dict[tuple[str, int], set[int]]) -> None:
    plain = {Position(*source, offset) for source, known in offsets.items() for offset in known}
    for positions in (Positions(offsets), pickle.loads(pickle.dumps(Positions(offsets)))):
        assert positions == plain
        assert len(positions) == len(plain)
        assert all(
            (at in positions) == (at in plain) for at in (Position("a", p, o) for p in range(5) for o in range(10))
        )
    assert "a" not in Positions(offsets)


@given(LOWEST)
def test_it_is_the_mapping_of_its_pages_before_and_after_the_way(
    lowest: dict[tuple[str, int], dict[bytes | None, int]],
) -> None:
    plain = {
        (*source, key): Position(*source, offset) for source, pages in lowest.items() for key, offset in pages.items()
    }
    for blocked in (BlockedPages(lowest), pickle.loads(pickle.dumps(BlockedPages(lowest)))):
        assert dict(blocked) == plain
        assert len(blocked) == len(plain)
        assert blocked.get(("c", 0, b"k")) is None
        assert blocked.get(("a", 0, b"no such key")) is None
