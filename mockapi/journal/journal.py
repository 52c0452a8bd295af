"""What was asked and what was answered: the proof that a fault fired.

    begin(asked) ──> in flight ──> finish(result) ──> entry (the newest ones are kept) + counts (never forgotten)

Entries are in the order of their ends, `n` in that of their beginnings. With each is kept what rules could see of the
request, so that a rule can say later why it did not match.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final

from mockapi.journal.entry import Asked, Begun, Entry, InFlight, Result, status_key
from mockapi.journal.tally import Counts, Tally, Totals
from mockapi.rules.matching import Subject
from mockapi.wiki.title import reads_same


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalFilter:
    """All that is given must hold.

    `revision` is one of those a request was about; in `page` underscores are spaces; `path` is a shell glob, as in a
    rule; `status` is one, a class such as `5xx`, or `none`; `since` is the `n` of an entry: the later ones.
    """

    rule: str | None = None
    key: str | None = None
    revision: int | None = None
    request_id: str | None = None
    page: str | None = None
    path: str | None = None
    status: str | None = None
    since: int | None = None

    def holds(self, entry: Entry) -> bool:
        """Whether all that is given fits `entry`; without anything given it always does."""
        return (
            (self.since is None or entry.n > self.since)
            and (self.rule is None or self.rule in entry.rules)
            and (self.key is None or self.key == entry.key)
            and (self.revision is None or self.revision == entry.revision or self.revision in entry.revisions)
            and (self.request_id is None or self.request_id == entry.request_id)
            and (self.page is None or (entry.page is not None and reads_same(self.page, entry.page)))
            and (self.path is None or fnmatchcase(entry.path, self.path))
            and (self.status is None or _status_fits(self.status, entry))
        )


ALL = JournalFilter()
"""Every entry."""


def _status_fits(wanted: str, entry: Entry) -> bool:
    status = status_key(entry)
    return status[0] == wanted[0] if wanted.endswith("xx") else status == wanted


CAPACITY: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Open:
    begun: Begun
    asked: Asked
    subject: Subject | None
    since: float


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry, and what rules could see of its request, without the body; None where it is not known."""

    entry: Entry
    subject: Subject | None


class Journal:
    """`now` gives aware times, `monotonic` seconds for durations; the newest `capacity` entries are kept."""

    def __init__(
        self, *, now: Callable[[], datetime], monotonic: Callable[[], float], capacity: int = CAPACITY
    ) -> None:
        self._now = now
        self._monotonic = monotonic
        self._kept: deque[Kept] = deque(maxlen=capacity)
        self._open: dict[int, _Open] = {}
        self._last = 0
        self._tally = Tally()

    def begin(self, asked: Asked, at_s: float, subject: Subject | None = None) -> int:
        """Notes a request as in flight, `at_s` seconds after the first one; the number is for `finish`."""
        self._last += 1
        if subject is not None and subject.request.body:
            subject = replace(subject, request=replace(subject.request, body=b""))
        begun = Begun(n=self._last, at=self._now(), at_s=at_s)
        self._open[self._last] = _Open(begun, asked, subject, self._monotonic())
        return self._last

    def finish(self, n: int, result: Result) -> None:
        """Makes an entry of request `n`; nothing happens when the journal was cleared since it began."""
        ended = self._open.pop(n, None)
        if ended is None:
            return
        entry = Entry.of(ended.begun, ended.asked, result, self._monotonic() - ended.since)
        self._kept.append(Kept(entry, ended.subject))
        self._tally.add(entry)

    def kept(self, wanted: JournalFilter = ALL, *, limit: int | None = None) -> list[Kept]:
        """The kept entries that are `wanted`, newest last; of more than `limit`, the newest."""
        matching = [kept for kept in self._kept if wanted.holds(kept.entry)]
        return matching if limit is None else matching[max(0, len(matching) - limit) :]

    def entries(self, wanted: JournalFilter = ALL, *, limit: int | None = None) -> list[Entry]:
        """Oldest first; with `limit` only the newest of them."""
        return [kept.entry for kept in self.kept(wanted, limit=limit)]

    @property
    def size(self) -> int:
        """Entries that are kept now, at most `capacity`."""
        return len(self._kept)

    def in_flight(self) -> list[InFlight]:
        """The requests that have not ended, oldest first."""
        at = self._monotonic()
        return [
            InFlight(**vars(request.begun), **vars(request.asked), waited_s=at - request.since)
            for request in self._open.values()
        ]

    def counts(self, rule_names: tuple[str, ...]) -> Counts:
        """Counts since the journal was cleared; `rule_names` are there even if they matched nothing."""
        return self._tally.counts(rule_names, [request.asked for request in self._open.values()])

    def totals(self) -> Totals:
        """Sums since the journal was cleared."""
        return self._tally.totals()

    def clear(self) -> None:
        """Forgets entries and counts, and does not note the ends of requests that are in flight."""
        self._kept.clear()
        self._open.clear()
        self._tally = Tally()
