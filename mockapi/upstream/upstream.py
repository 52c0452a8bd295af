"""The wiki's state behind the proxy: parser, replicas; the proxy's rate limits, and who is connected."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

from mockapi.clock import Later
from mockapi.upstream.buckets import Buckets
from mockapi.upstream.parser import Parser
from mockapi.upstream.places import ConnectionPlaces

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


class Upstream:
    """What answers of one world wait for: its parser, replicas, rate limits and connections."""

    def __init__(self, monotonic: Callable[[], float], later: Later) -> None:
        self.parser = Parser(monotonic, later)
        self.replicas = Replicas()
        self.buckets = Buckets(monotonic)
        self.places = ConnectionPlaces()
