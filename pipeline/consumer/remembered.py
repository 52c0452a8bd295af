"""What was seen first of each key, of the newest keys."""


class Remembered:
    """At most `limit` keys; one that comes again is new again. About 200 bytes each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._firsts: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._firsts)

    def see(self, key: str, what: bytes) -> bytes | None:
        """What was seen first of the key, which stands; None when that is `what`, as the key is new."""
        before = self._firsts.pop(key, None)
        self._firsts[key] = what if before is None else before
        if len(self._firsts) > self._limit:
            del self._firsts[next(iter(self._firsts))]
        return before
