"""Counts of what a toxic did: the evidence that a fault acted, without which no verdict is given."""

from collections.abc import Callable
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict


class Counts(BaseModel):
    """Connections and requests that the toxic acted on, how many of the requests went on before it ended, and bytes
    it held back or took away.

    `first_at` and `last_at` are when it acted; a cut acts when it closes the port, also if no connection was open.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    connections: int = 0
    requests: int = 0
    missed: int = 0
    bytes_delayed: int = 0
    bytes_dropped: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None


def utc_now() -> datetime:
    """The time of day, with its zone."""
    return datetime.now(UTC)


class ProxyProof:
    """Counts for one toxic. `now` is the clock."""

    def __init__(self, now: Callable[[], datetime] = utc_now) -> None:
        self._now = now
        self._connections: set[int] = set()
        self._requests = self._missed = self._delayed = self._dropped = 0
        self._first_at: datetime | None = None
        self._last_at: datetime | None = None

    def acted(self) -> None:
        """At this moment, and on no connection in particular."""
        self._last_at = self._now()
        self._first_at = self._first_at or self._last_at

    def touched(self, connection: int) -> None:
        """At this moment, on a connection of this number."""
        self._connections.add(connection)
        self.acted()

    def delayed(self, connection: int, count: int) -> None:
        """Adds `count` bytes that go on later than they came."""
        self._delayed += count
        self.touched(connection)

    def dropped(self, connection: int, count: int) -> None:
        """Adds `count` bytes that never arrive; 0 is a connection that ended with nothing held."""
        self._dropped += count
        self.touched(connection)

    def answered(self, connection: int) -> None:
        """Acted on one more request."""
        self._requests += 1
        self.touched(connection)

    def missed(self) -> None:
        """One of the requests waited for as long as it may, and went on."""
        self._missed += 1

    @property
    def counts(self) -> Counts:
        """A copy as of now."""
        return Counts(
            connections=len(self._connections),
            requests=self._requests,
            missed=self._missed,
            bytes_delayed=self._delayed,
            bytes_dropped=self._dropped,
            first_at=self._first_at,
            last_at=self._last_at,
        )
