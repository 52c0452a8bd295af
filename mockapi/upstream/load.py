"""What the parser has to do and has done, over all pools together."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class UpstreamCounts:
    """`busy` parses are under way and `queued` wait, now; `max_queued` is the most that waited at once.

    Of the finished `parses` there were `abandoned` for which nobody waited any more when they ended. `parse_s` is the
    time that the finished ones held the parser, as drawn.
    """

    busy: int = 0
    queued: int = 0
    parses: int = 0
    abandoned: int = 0
    parse_s: float = 0.0
    max_queued: int = 0


class Load:
    """Counts for all pools that share it."""

    def __init__(self) -> None:
        self._busy = 0
        self._queued = 0
        self._parses = 0
        self._abandoned = 0
        self._parse_s = 0.0
        self._max_queued = 0

    def began(self) -> None:
        """A parse took a slot."""
        self._busy += 1

    def ended(self, seconds: float, *, awaited: bool) -> None:
        """A parse is through."""
        self._busy -= 1
        self._parses += 1
        self._abandoned += not awaited
        self._parse_s += seconds

    def stopped(self) -> None:
        """A parse gave its slot back unfinished."""
        self._busy -= 1

    def queued(self) -> None:
        """A parse queues."""
        self._queued += 1
        self._max_queued = max(self._max_queued, self._queued)

    def left_queue(self) -> None:
        """A parse queues no more."""
        self._queued -= 1

    def forget(self) -> None:
        """Begins to count anew; what is busy or queued stays so."""
        self._parses = self._abandoned = 0
        self._parse_s = 0.0
        self._max_queued = self._queued

    def counts(self) -> UpstreamCounts:
        """The figures now."""
        return UpstreamCounts(
            busy=self._busy,
            queued=self._queued,
            parses=self._parses,
            abandoned=self._abandoned,
            parse_s=self._parse_s,
            max_queued=self._max_queued,
        )
