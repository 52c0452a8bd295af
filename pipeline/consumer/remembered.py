"""What is known of each key, of the newest keys."""

from typing import Generic, TypeVar

V = TypeVar("V")


class Remembered(Generic[V]):
    """At most `limit` keys; one that comes again is new again. About 200 bytes each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: dict[str, V] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: str) -> V | None:
        """None of a key that is not known; one that is known becomes the newest."""
        value = self._values.pop(key, None)
        if value is not None:
            self._values[key] = value
        return value

    def put(self, key: str, value: V) -> None:
        """The key becomes the newest."""
        self._values.pop(key, None)
        self._values[key] = value
        if len(self._values) > self._limit:
            del self._values[next(iter(self._values))]
