"""The operations of the updater's bench, and the sizes of their entities."""

from collections import Counter

from benchmarks.engine.operations import Operations, find_seed, size_of


def test_entities_have_the_shares_of_the_sizes() -> None:
    work = Operations(1_000, 3)
    sizes = Counter(size_of(page, work.mock_seed) for page in work.catalog)
    assert (work.count, sizes) == (1_000, {"50": 90, "500": 9, "5000": 1})
    assert work.mock_seed >= 3


def test_a_share_that_is_less_than_an_entity_has_none() -> None:
    work = Operations(10, 1)
    assert Counter(size_of(page, find_seed(work.catalog, 1)) for page in work.catalog) == {"50": 9, "500": 1}
