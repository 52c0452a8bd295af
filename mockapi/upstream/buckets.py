"""Token buckets: how many requests may pass at a rate, and when the next one may."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MOST_BUCKETS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Limit:
    """How many tokens a bucket gets a second and holds at most, and whether each client has one of its own."""

    rate_per_s: float
    burst: int = 1
    by_client: bool = False


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at_s: float


class Buckets:
    """The buckets of one world: one a rule, or one a rule and client. A bucket begins full.

    Of more than `limit` buckets those used last are kept; the others begin full again.
    """

    def __init__(self, monotonic: Callable[[], float], limit: int = MOST_BUCKETS) -> None:
        self._monotonic = monotonic
        self._limit = limit
        self._buckets: OrderedDict[tuple[str, str], _Bucket] = OrderedDict()

    def take(self, rule: str, limit: Limit, client: str) -> float:
        """Takes a token and returns 0.0; without one, returns in how many seconds there will be one."""
        key = (rule, client if limit.by_client else "")
        now_s = self._monotonic()
        most = float(limit.burst)
        bucket = self._buckets.pop(key, None) or _Bucket(most, now_s)
        bucket.tokens = min(most, bucket.tokens + (now_s - bucket.at_s) * limit.rate_per_s)
        bucket.at_s = now_s
        self._buckets[key] = bucket
        if len(self._buckets) > self._limit:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1.0:
            return (1.0 - bucket.tokens) / limit.rate_per_s
        bucket.tokens -= 1.0
        return 0.0

    def left(self) -> dict[str, float]:
        """The tokens that the buckets of each rule held together when they were last used."""
        left: dict[str, float] = {}
        for (rule, _), bucket in self._buckets.items():
            left[rule] = left.get(rule, 0.0) + bucket.tokens
        return left
