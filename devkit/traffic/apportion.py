"""Shares of a whole as whole numbers."""

from collections.abc import Mapping


def apportion(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Whole numbers that add up to `total`, each within 1 of its share (which add up to 1): largest remainders win."""
    exact = {name: total * share for name, share in shares.items()}
    counts = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: counts[name] - exact[name])
    for n in range(total - sum(counts.values())):
        counts[by_remainder[n % len(by_remainder)]] += 1
    return counts
