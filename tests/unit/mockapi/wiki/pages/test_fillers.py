"""A bomb, which a coding makes small, and noise, which it does not."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.coding import CODINGS, Coding, encoded, even
from mockapi.wiki.pages.fillers import Bomb, Noise, bomb_parts, noise_parts
from tests.unit.mockapi.conftest import make_page, revision_of

Fill = Callable[[Located, int], Iterator[bytes]]


def bomb(located: Located, size: int) -> Iterator[bytes]:
    return bomb_parts(located, Bomb(size))


def noise(located: Located, size: int, seed: int = 7) -> Iterator[bytes]:
    return noise_parts(seed, located, Noise(size))


@pytest.mark.parametrize("fill", [bomb, noise])
@given(size=st.integers(0, 1_000_000), n=st.integers(0, 4095))
def test_the_size_is_exact(fill: Fill, size: int, n: int) -> None:
    body = b"".join(fill(revision_of(make_page(), n), size))
    assert len(body) == size
    assert body.isascii()


@pytest.mark.parametrize("fill", [bomb, noise])
def test_revision_and_parent_differ_in_one_short_line(fill: Fill) -> None:
    old, new = (b"".join(fill(revision_of(make_page(), n), 100_000)).splitlines() for n in (1, 2))
    (changed,) = [before for before, after in zip(old, new, strict=True) if before != after]
    assert len(changed) < 100


def test_the_seed_and_the_page_decide_the_noise(located: Located) -> None:
    one, again, other = (b"".join(noise(located, 10_000, seed)) for seed in (7, 7, 8))
    assert one == again != other


@pytest.mark.parametrize(
    ("fill", "size", "low", "high"), [(bomb, 16 << 20, 0, 1 / 900), (noise, 4 << 20, 0.7, 1)], ids=["bomb", "noise"]
)
@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_makes_a_bomb_a_thousand_times_smaller_and_noise_hardly(
    located: Located, fill: Fill, size: int, low: float, high: float, coding: Coding
) -> None:
    assert low * size < len(b"".join(encoded(coding, even(fill(located, size))))) < high * size


@pytest.mark.slow
@pytest.mark.parametrize("coding", CODINGS)
def test_a_gibibyte_becomes_a_megabyte(located: Located, coding: Coding) -> None:
    assert sum(map(len, encoded(coding, even(bomb(located, 1024**3))))) < 2 * 1024**2
