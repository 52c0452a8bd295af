"""A body as it was sent, compressed, for a reader that keeps it and need not compress it again."""

from pipeline.fetch.in_flight import Holding


class SentBody:
    """One body, or nothing of it where it is over `limit_bytes` or `holding` has no room for it."""

    def __init__(self, holding: Holding, limit_bytes: int) -> None:
        self._holding = holding
        self._limit_bytes = limit_bytes
        self._sent: bytearray | None = bytearray()

    @property
    def whole(self) -> bytearray | None:
        """What was sent; None where it is not at hand, or was not compressed."""
        return self._sent or None

    def write(self, chunk: bytes) -> None:
        """Append, as it came."""
        if self._sent is None:
            return
        if len(self._sent) + len(chunk) <= self._limit_bytes and self._holding.take(len(chunk)):
            self._sent += chunk
        else:
            self.discard()

    def discard(self) -> None:
        """Let go of it."""
        if self._sent is not None:
            self._holding.give_back(memory=len(self._sent), spooled=0)
            self._sent = None
