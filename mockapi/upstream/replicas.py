"""Which revisions have not reached the replica yet, under rules with a `replica_lag` in time."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

MOST_REMEMBERED: Final = 250_000


class Replicas:
    """Remembers when a revision was first asked for, of the `limit` that were asked for last."""

    def __init__(self, limit: int = MOST_REMEMBERED) -> None:
        self._limit = limit
        self._first_s: OrderedDict[Hashable, float] = OrderedDict()

    def behind(self, key: Hashable, lag_s: float, now_s: float) -> bool:
        """Whether `key` (rule, wiki, revision) is still unknown at `now_s`; the first question begins its lag."""
        first_s = self._first_s.pop(key, now_s)
        self._first_s[key] = first_s
        if len(self._first_s) > self._limit:
            self._first_s.popitem(last=False)
        return now_s < first_s + lag_s
