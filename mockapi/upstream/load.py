"""What the parser has to do and has done, over all pools together."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class UpstreamCounts:
    """`busy` parses are under way and `queued` wait, now; `max_queued` is the most that waited at once.

    Of the finished `parses` there were `abandoned` whose client was gone when they ended. `parse_s` is the
    time that the finished ones held the parser, as drawn.
    """

    busy: int = 0
    queued: int = 0
    parses: int = 0
    abandoned: int = 0
    parse_s: float = 0.0
    max_queued: int = 0


class Load:
    """Counts for one pool, and for the `whole` that it is part of."""

    def __init__(self, whole: "Load | None" = None) -> None:
        self._whole = whole
        self._busy = 0
        self._queued = 0
        self._parses = 0
        self._abandoned = 0
        self._parse_s = 0.0
        self._max_queued = 0

    def began(self) -> None:
        """A parse took a slot; it counts in the `whole` too."""
        self._busy += 1
        if self._whole is not None:
            self._whole.began()

    def ended(self, seconds: float, *, awaited: bool) -> None:
        """A parse of `seconds` gave its slot back; not `awaited` is one whose client had disconnected."""
        self._busy -= 1
        self._parses += 1
        self._abandoned += not awaited
        self._parse_s += seconds
        if self._whole is not None:
            self._whole.ended(seconds, awaited=awaited)

    def stopped(self) -> None:
        """A parse gave its slot back unfinished."""
        self._busy -= 1
        if self._whole is not None:
            self._whole.stopped()

    def queued(self) -> None:
        """A parse found no free slot and queues."""
        self._queued += 1
        self._max_queued = max(self._max_queued, self._queued)
        if self._whole is not None:
            self._whole.queued()

    def dequeued(self) -> None:
        """A parse got a slot, or its client stopped waiting."""
        self._queued -= 1
        if self._whole is not None:
            self._whole.dequeued()

    def forget(self) -> None:
        """Begins to count anew, the whole does not; what is busy or queued stays so."""
        self._parses = self._abandoned = 0
        self._parse_s = 0.0
        self._max_queued = self._queued

    def counts(self) -> UpstreamCounts:
        """A copy as of now; `parse_s` are seconds of all parses together."""
        return UpstreamCounts(
            busy=self._busy,
            queued=self._queued,
            parses=self._parses,
            abandoned=self._abandoned,
            parse_s=self._parse_s,
            max_queued=self._max_queued,
        )
