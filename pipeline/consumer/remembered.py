"""The ids that were seen, the newest of them, each with a fingerprint of what was seen."""

from typing import Literal

Seen = Literal["new", "repeat", "differs"]


class Remembered:
    """At most `limit` ids; a repeat makes its id new again. About 200 bytes each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._fingerprints: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._fingerprints)

    def see(self, event_id: str, fingerprint: bytes) -> Seen:
        """`differs`: the id was there, with other bytes; what came first stands."""
        before = self._fingerprints.pop(event_id, None)
        self._fingerprints[event_id] = fingerprint if before is None else before
        if len(self._fingerprints) > self._limit:
            del self._fingerprints[next(iter(self._fingerprints))]
        if before is None:
            return "new"
        return "repeat" if before == fingerprint else "differs"
