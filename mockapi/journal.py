"""What was asked and what was answered: the proof that a fault fired.

    begin(asked) ──> in flight ──> finish(result) ──> entry (the newest 10,000 are kept) + counts (never forgotten)

Entries are in the order of their ends, `n` in that of their beginnings.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

CAPACITY: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class Begun:
    """`n` counts requests from 1; `at` is an aware time."""

    n: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it came in, with what the rules made of it.

    `page` is the title of a known revision's page. `rules` are the names of all that matched, `draws` what they drew.
    """

    method: str
    path: str
    host: str
    wiki: str | None
    page: str | None
    revision: int | None
    request_id: str
    attempt: int
    rules: tuple[str, ...]
    draws: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of a request.

    `status` is None when nothing was sent. `content_length` is the header as sent. `wire_bytes` of the body were handed
    to the socket; `real_bytes` is the length of the whole body when decoded, 0 when none was to be sent.
    `completed` is False when the client left before the end.
    """

    status: int | None = None
    content_length: int | None = None
    content_encoding: str | None = None
    wire_bytes: int = 0
    real_bytes: int = 0
    completed: bool = False


@dataclass(frozen=True, kw_only=True)
class InFlight(Asked, Begun):
    """A request that has not ended, `waited_s` seconds after it began."""

    waited_s: float


@dataclass(frozen=True, kw_only=True)
class Entry(Result, Asked, Begun):
    """A request that has ended, `duration_s` seconds after it began."""

    duration_s: float


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """What happened to the requests that a rule matched, since the journal was cleared."""

    requests: int = 0
    completed: int = 0
    max_real_bytes: int = 0
    max_wire_bytes: int = 0
    max_content_length: int = 0
    max_duration_s: float = 0.0

    def with_entry(self, entry: Entry) -> "RuleCounts":
        """These counts and one more request."""
        return RuleCounts(
            self.requests + 1,
            self.completed + entry.completed,
            max(self.max_real_bytes, entry.real_bytes),
            max(self.max_wire_bytes, entry.wire_bytes),
            max(self.max_content_length, entry.content_length or 0),
            max(self.max_duration_s, entry.duration_s),
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """`requests` have ended; `by_status` counts them by status, `none` for those that got none."""

    requests: int
    in_flight: int
    by_status: dict[str, int]
    rules: dict[str, RuleCounts]


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
        self._by_status: Counter[str] = Counter()
        self._rules: dict[str, RuleCounts] = {}

    def begin(self, asked: Asked) -> int:
        """Notes a request as in flight; the number is for `finish`."""
        self._last += 1
        self._open[self._last] = _Open(Begun(n=self._last, at=self._now()), asked, self._monotonic())
        return self._last

    def finish(self, n: int, result: Result) -> None:
        """Makes an entry of request `n`; nothing happens when the journal was cleared since it began."""
        ended = self._open.pop(n, None)
        if ended is None:
            return
        duration_s = self._monotonic() - ended.since
        entry = Entry(**vars(ended.begun), **vars(ended.asked), **vars(result), duration_s=duration_s)
        self._entries.append(entry)
        self._by_status["none" if result.status is None else str(result.status)] += 1
        for name in entry.rules:
            self._rules[name] = self._rules.get(name, RuleCounts()).with_entry(entry)

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
        rules = {name: self._rules.get(name, RuleCounts()) for name in (*rule_names, *self._rules)}
        return Counts(self._by_status.total(), len(self._open), dict(self._by_status), rules)

    def clear(self) -> None:
        """Forgets entries and counts, and does not note the ends of requests that are in flight."""
        self._entries.clear()
        self._open.clear()
        self._by_status.clear()
        self._rules.clear()
