"""Every random number of the mock, as a pure function of what it is drawn for.

Nothing here keeps a state, so a draw depends on its arguments alone: not on the order of requests, on how many
clients there are or on the process. `hash()` and an advancing generator would break that, hence a keyed digest.

    digest(parts…) ── first 53 bits ──> uniform in (0, 1) ── quantile function ──> a latency, a page size …
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

_NORMAL = NormalDist()
_Z99 = _NORMAL.inv_cdf(0.99)


def digest(*parts: object, size: int = 16) -> bytes:
    """`size` bytes (at most 64) that depend on the text of `parts`, in their order."""
    return hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=size).digest()


def uniform(*parts: object) -> float:
    """A number in the open interval (0, 1)."""
    return ((int.from_bytes(digest(*parts, size=8), "big") >> 11) + 0.5) / (1 << 53)


def log_normal(u: float, median: float, p99: float) -> float:
    """The log-normal quantile at `u` in (0, 1), given the median and the 99th percentile; in their unit."""
    return median * math.exp(_NORMAL.inv_cdf(u) * math.log(p99 / median) / _Z99)


def empirical(u: float, upper_bounds: Sequence[float], counts: Sequence[int]) -> float:
    """The quantile at `u` in (0, 1) of a histogram: `counts[n]` values lie above the bound before, up to
    `upper_bounds[n]`, the first ones above 0. Within a bucket values are spread evenly.
    """
    rank = u * sum(counts)
    low = 0.0
    for high, count in zip(upper_bounds, counts, strict=True):
        if rank <= count and count:
            return low + (high - low) * rank / count
        rank -= count
        low = high
    return low


@dataclass(frozen=True, slots=True)
class Draw:
    """The random source of one rule for one request: (seed, rule, key, attempt).

    `key` is what the request asks for, such as a revision, with its wiki if the catalog has several; `attempt` counts
    from 1. `age_s` is how long the rule has been effective: for what depends on time, and then not deterministic.
    """

    seed: int
    rule: str
    key: str
    attempt: int
    age_s: float = 0.0

    def uniform(self, purpose: str) -> float:
        """In (0, 1); `purpose` keeps the draws of different faults of one rule independent."""
        return uniform(self.seed, self.rule, self.key, self.attempt, purpose)
