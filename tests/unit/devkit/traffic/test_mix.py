from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.mix import apportion


@given(st.integers(0, 5000), st.lists(st.integers(0, 1000), min_size=1, max_size=12).filter(any))
def test_apportioned_counts_add_up_and_stay_within_one_of_their_share(total: int, weights: list[int]) -> None:
    shares = {str(n): weight / sum(weights) for n, weight in enumerate(weights)}
    counts = apportion(total, shares)
    assert sum(counts.values()) == total
    assert all(abs(counts[name] - total * share) < 1 + 1e-6 for name, share in shares.items())
