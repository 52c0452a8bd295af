"""Counts how often a request was tried, so that a fault can differ from attempt to attempt."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

MOST_REMEMBERED: Final = 250_000


class Attempts:
    """Attempt numbers from 1 for each key: wiki and X-Request-Id, else wiki, client address and what is asked.

    Only the `limit` keys used last are remembered; a key that fell out starts again at 1.
    """

    def __init__(self, limit: int = MOST_REMEMBERED) -> None:
        self._limit = limit
        self._counts: OrderedDict[Hashable, int] = OrderedDict()

    def next(self, key: Hashable) -> int:
        """Counts this attempt, from 1, and makes the key the one used last."""
        attempt = self._counts.pop(key, 0) + 1
        self._counts[key] = attempt
        if len(self._counts) > self._limit:
            self._counts.popitem(last=False)
        return attempt
