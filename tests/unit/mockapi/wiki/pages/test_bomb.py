from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.pages.coding import CODINGS, Coding, encoded, even
from mockapi.wiki.pages.fillers import Bomb, bomb_parts

MakePage = Callable[..., CatalogPage]
RevisionOf = Callable[[CatalogPage, int], Located]


@given(st.integers(0, 1_000_000), st.integers(0, 4095))
def test_the_size_is_exact(make_page: MakePage, revision_of: RevisionOf, size: int, n: int) -> None:
    body = b"".join(bomb_parts(revision_of(make_page(), n), Bomb(size)))
    assert len(body) == size
    assert body.isascii()


def test_revision_and_parent_differ_in_one_short_line(make_page: MakePage, revision_of: RevisionOf) -> None:
    page = make_page()
    old, new = (b"".join(bomb_parts(revision_of(page, n), Bomb(100_000))).splitlines() for n in (1, 2))
    changed = [(before, after) for before, after in zip(old, new, strict=True) if before != after]
    assert len(changed) == 1
    assert len(changed[0][0]) < 100


@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_makes_it_a_thousand_times_smaller(located: Located, coding: Coding) -> None:
    size = 16 * 1024 * 1024
    packed = b"".join(encoded(coding, even(bomb_parts(located, Bomb(size)))))
    assert len(packed) < size / 900


@pytest.mark.slow
@pytest.mark.parametrize("coding", CODINGS)
def test_a_gibibyte_becomes_a_megabyte(located: Located, coding: Coding) -> None:
    packed = sum(map(len, encoded(coding, even(bomb_parts(located, Bomb(1024**3))))))
    assert packed < 2 * 1024**2
