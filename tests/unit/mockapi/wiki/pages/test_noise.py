from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.pages.coding import CODINGS, Coding, encoded, even
from mockapi.wiki.pages.fillers import Noise, noise_parts

MakePage = Callable[..., CatalogPage]
RevisionOf = Callable[[CatalogPage, int], Located]


@given(st.integers(0, 1_000_000), st.integers(0, 4095))
def test_the_size_is_exact(make_page: MakePage, revision_of: RevisionOf, size: int, n: int) -> None:
    body = b"".join(noise_parts(7, revision_of(make_page(), n), Noise(size)))
    assert len(body) == size
    assert body.isascii()


def test_revision_and_parent_differ_in_one_short_line(make_page: MakePage, revision_of: RevisionOf) -> None:
    page = make_page()
    old, new = (b"".join(noise_parts(7, revision_of(page, n), Noise(100_000))).splitlines() for n in (1, 2))
    changed = [(before, after) for before, after in zip(old, new, strict=True) if before != after]
    assert len(changed) == 1
    assert len(changed[0][0]) < 100


def test_the_seed_and_the_page_decide_it(make_page: MakePage, revision_of: RevisionOf) -> None:
    located = revision_of(make_page(), 1)
    one, again, other = (b"".join(noise_parts(seed, located, Noise(10_000))) for seed in (7, 7, 8))
    assert one == again != other


@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_hardly_makes_it_smaller(located: Located, coding: Coding) -> None:
    size = 4 * 1024 * 1024
    packed = b"".join(encoded(coding, even(noise_parts(7, located, Noise(size)))))
    assert len(packed) > 0.7 * size
