"""What was asked and what was answered: the proof that a fault fired.

    begin(asked) ──> in flight ──> finish(result) ──> entry (the newest 10,000 are kept) + counts (never forgotten)

Entries are in the order of their ends, `n` in that of their beginnings.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mockapi.entry import Asked, Begun, Entry, InFlight, Result
from mockapi.tally import Counts, Tally

CAPACITY: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Open:
    begun: Begun
    asked: Asked
    since: float


class Journal:
    """`now` gives aware times, `monotonic` seconds for durations."""

    def __init__(
        self, *, now: Callable[[], datetime], monotonic: Callable[[], float], capacity: int = CAPACITY
    ) -> None:
        self._now = now
        self._monotonic = monotonic
        self._entries: deque[Entry] = deque(maxlen=capacity)
        self._open: dict[int, _Open] = {}
        self._last = 0
        self._tally = Tally()

    def begin(self, asked: Asked, at_s: float) -> int:
        """Notes a request as in flight, `at_s` seconds after the first one; the number is for `finish`."""
        self._last += 1
        self._open[self._last] = _Open(Begun(n=self._last, at=self._now(), at_s=at_s), asked, self._monotonic())
        return self._last

    def finish(self, n: int, result: Result) -> None:
        """Makes an entry of request `n`; nothing happens when the journal was cleared since it began."""
        ended = self._open.pop(n, None)
        if ended is None:
            return
        duration_s = self._monotonic() - ended.since
        entry = Entry(**vars(ended.begun), **vars(ended.asked), **vars(result), duration_s=duration_s)
        self._entries.append(entry)
        self._tally.add(entry)

    def entries(
        self,
        *,
        rule: str | None = None,
        revision: int | None = None,
        request_id: str | None = None,
        limit: int | None = None,
    ) -> list[Entry]:
        """The kept entries that fit all that is given, newest last; of more than `limit`, the newest."""
        found = [
            entry
            for entry in self._entries
            if (rule is None or rule in entry.rules)
            and (revision is None or revision == entry.revision)
            and (request_id is None or request_id == entry.request_id)
        ]
        return found if limit is None else found[max(0, len(found) - limit) :]

    def in_flight(self) -> list[InFlight]:
        """The requests that have not ended, oldest first."""
        at = self._monotonic()
        return [
            InFlight(**vars(request.begun), **vars(request.asked), waited_s=at - request.since)
            for request in self._open.values()
        ]

    def counts(self, rule_names: tuple[str, ...]) -> Counts:
        """Counts since the journal was cleared; `rule_names` are there even if they matched nothing."""
        return self._tally.counts(rule_names, in_flight=len(self._open))

    def clear(self) -> None:
        """Forgets entries and counts, and does not note the ends of requests that are in flight."""
        self._entries.clear()
        self._open.clear()
        self._tally = Tally()
