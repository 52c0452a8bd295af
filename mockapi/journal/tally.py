"""Figures about all requests that have ended, whether or not their entries are still kept."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from mockapi.journal.entry import Asked, Entry, status_key

_NOUNS: Final = frozenset({"revision", "page"})
_FORMS: Final = frozenset({"html", "bare", "with_html"})


def route_family(path: str) -> str:
    """The part of the API: `rest revision/html`, `rest page`, `rest other`, `restbase`, `action` or `other`."""
    if path.startswith("/w/rest.php/"):
        return f"rest {_handler(path)}"
    if path.startswith("/w/api.php"):
        return "action"
    return "restbase" if path.startswith("/api/rest_v1/") else "other"


def _handler(path: str) -> str:
    _, _, below = path.partition("/v1/")
    noun, _, rest = below.partition("/")
    if noun not in _NOUNS:
        return "other"
    form = rest.rpartition("/")[2]
    return f"{noun}/{form}" if form in _FORMS and "/" in rest else noun


_SHORTEST_S: Final = 0.005
_LONGEST_S: Final = 120.0
_STEPS: Final = 60

LATENCY_BOUNDS_S: Final = tuple(
    round(_SHORTEST_S * (_LONGEST_S / _SHORTEST_S) ** (step / _STEPS), 6) for step in range(_STEPS + 1)
)
"""From 5 ms to 120 s, each 18 % above the one before; so a percentile read off them is that close."""


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """What happened to the requests that a rule matched, since the journal was cleared.

    `first_at_s` and `last_at_s` are when the first and the last of them came in; None when none did. `in_flight` have
    not ended yet, and are in none of the other counts. `changed_by` says how many answers each kind of change met.
    """

    requests: int = 0
    in_flight: int = 0
    completed: int = 0
    by_status: Mapping[str, int] = field(default_factory=dict)
    changed_by: Mapping[str, int] = field(default_factory=dict)
    max_real_bytes: int = 0
    max_wire_bytes: int = 0
    max_content_length: int = 0
    max_duration_s: float = 0.0
    first_at_s: float | None = None
    last_at_s: float | None = None

    def with_entry(self, entry: Entry) -> "RuleCounts":
        """These counts and one more request."""
        status = status_key(entry)
        return replace(
            self,
            requests=self.requests + 1,
            completed=self.completed + entry.completed,
            by_status={**self.by_status, status: self.by_status.get(status, 0) + 1},
            changed_by=Counter(self.changed_by) + Counter(entry.changed_by) if entry.changed_by else self.changed_by,
            max_real_bytes=max(self.max_real_bytes, entry.real_bytes),
            max_wire_bytes=max(self.max_wire_bytes, entry.wire_bytes),
            max_content_length=max(self.max_content_length, entry.content_length or 0),
            max_duration_s=max(self.max_duration_s, entry.duration_s),
            first_at_s=entry.at_s if self.first_at_s is None else min(self.first_at_s, entry.at_s),
            last_at_s=entry.at_s if self.last_at_s is None else max(self.last_at_s, entry.at_s),
        )


@dataclass(frozen=True, slots=True)
class LatencyCounts:
    """How many requests took how long: `counts[n]` took up to `le_s[n]` seconds and more than the bound before it.

    What took longer than the last bound is counted with it. Two looks can be subtracted.
    """

    le_s: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over all requests that have ended. `by_route` counts them by part of the API and status."""

    by_route: Mapping[tuple[str, str], int]
    duration_s: float
    wire_bytes: int
    real_bytes: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """`requests` have ended; `by_status` counts them by status, `none` for those that got none.

    `fetches` of them were first attempts, `max_attempt` is the highest number of an attempt, and `last_at_s` is when
    the last of them came in; None when none has ended.
    """

    requests: int
    fetches: int
    max_attempt: int
    in_flight: int
    by_status: dict[str, int]
    latency: LatencyCounts
    rules: dict[str, RuleCounts]
    last_at_s: float | None


class Tally:
    """Sums over all requests that ended, also those whose entries are no longer kept."""

    def __init__(self) -> None:
        self._fetches = 0
        self._max_attempt = 0
        self._by_status: Counter[str] = Counter()
        self._latency = [0] * len(LATENCY_BOUNDS_S)
        self._rules: dict[str, RuleCounts] = {}
        self._by_route: Counter[tuple[str, str]] = Counter()
        self._duration_s = 0.0
        self._wire_bytes = 0
        self._real_bytes = 0
        self._last_at_s: float | None = None

    def add(self, entry: Entry) -> None:
        """Call it once for each request, when it has ended."""
        self._fetches += entry.attempt == 1
        self._max_attempt = max(self._max_attempt, entry.attempt)
        self._last_at_s = entry.at_s if self._last_at_s is None else max(self._last_at_s, entry.at_s)
        status = status_key(entry)
        self._by_status[status] += 1
        self._by_route[route_family(entry.path), status] += 1
        self._duration_s += entry.duration_s
        self._wire_bytes += entry.wire_bytes
        self._real_bytes += entry.real_bytes
        self._latency[min(bisect_left(LATENCY_BOUNDS_S, entry.duration_s), len(LATENCY_BOUNDS_S) - 1)] += 1
        for name in entry.rules:
            self._rules[name] = self._rules.get(name, RuleCounts()).with_entry(entry)

    def counts(self, rule_names: tuple[str, ...], in_flight: Sequence[Asked]) -> Counts:
        """The figures now, with those that are `in_flight`; `rule_names` are there even if they matched nothing."""
        waiting = Counter(name for asked in in_flight for name in asked.rules)
        return Counts(
            requests=self._by_status.total(),
            fetches=self._fetches,
            max_attempt=self._max_attempt,
            in_flight=len(in_flight),
            by_status=dict(self._by_status),
            latency=LatencyCounts(LATENCY_BOUNDS_S, tuple(self._latency)),
            rules={
                name: replace(self._rules.get(name, RuleCounts()), in_flight=waiting[name])
                for name in (*rule_names, *self._rules, *waiting)
            },
            last_at_s=self._last_at_s,
        )

    def totals(self) -> Totals:
        """A copy as of now."""
        return Totals(
            by_route=dict(self._by_route),
            duration_s=self._duration_s,
            wire_bytes=self._wire_bytes,
            real_bytes=self._real_bytes,
        )
