"""The requests of the last seconds that a breaker judges by: a wiki's own, or those of all wikis at the endpoint.

Why two grains: a wiki is the smallest thing that fails by itself, and the endpoint the largest. Envoy has the same two.
Its outlier detection ejects single hosts, up to a share of them (here `deferred_share` of the ledger), and below a
share of healthy hosts its panic threshold may end all traffic (here the endpoint's breaker). It judges by a share of
failures only where several hosts can be compared (`failure_percentage_minimum_hosts`, here `minimum_wikis`), so that
one host is not taken for all. resilience4j has an instance for each backend and nothing above: with that alone 900
small wikis behind a section that is down open nothing, as none of them has `minimum_requests`.

So the endpoint's window has the requests of wikis that are too small, or failing for too short a time, to be judged by
themselves: when a wiki's own breaker opens, what it had here is taken out. Each request of the window takes a tuple,
and each wiki that was asked in it two numbers; a wiki that is asked no more takes nothing.
"""

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from pipeline.fetch.route import Ask


class RequestWindow(Protocol):
    """The interface of a breaker's window. Times are seconds of its clock."""

    @property
    def requests(self) -> int:
        """Number of requests that ended in the window."""
        ...

    @property
    def failed(self) -> int:
        """Number of those that failed."""
        ...

    @property
    def failing(self) -> int:
        """Number of wikis that have a failed one."""
        ...

    @property
    def is_broad(self) -> bool:
        """Whether what failed may speak for all that the breaker is for."""
        ...

    def add(self, now: float, ask: Ask, *, failed: bool) -> None:
        """A request has ended."""
        ...

    def forget_before(self, moment: float) -> None:
        """What ended before is no part of the window any more."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...

    def subject(self, ask: Ask) -> object:
        """What the requests that are kept for probes have to differ in."""
        ...

    def trial_subject(self, ask: Ask) -> object:
        """What failed trials have to differ in, or they count once."""
        ...


class WikiWindow:
    """The requests to one wiki."""

    is_broad = True

    def __init__(self) -> None:
        self._ended: deque[tuple[float, bool]] = deque()
        self.failed = 0

    @property
    def requests(self) -> int:
        """See `RequestWindow`."""
        return len(self._ended)

    @property
    def failing(self) -> int:
        """See `RequestWindow`."""
        return min(1, self.failed)

    def add(self, now: float, ask: Ask, *, failed: bool) -> None:  # noqa: ARG002 — all are of the same wiki
        """See `RequestWindow`."""
        self._ended.append((now, failed))
        self.failed += failed

    def forget_before(self, moment: float) -> None:
        """See `RequestWindow`."""
        while self._ended and self._ended[0][0] < moment:
            self.failed -= self._ended.popleft()[1]

    def clear(self) -> None:
        """See `RequestWindow`."""
        self._ended.clear()
        self.failed = 0

    def subject(self, ask: Ask) -> object:
        """See `RequestWindow`."""
        return ask.path

    def trial_subject(self, ask: Ask) -> object:  # noqa: ARG002 — each trial counts
        """See `RequestWindow`."""
        return object()


@dataclass(slots=True, eq=False)
class _Tally:
    """A wiki's part of the window; nothing of it counts when the wiki has a breaker of its own that opened."""

    requests: int = 0
    failed: int = 0
    counts: bool = True


class WikisWindow:
    """The requests to all wikis but those whose own breaker is not closed. It is broad when at least `minimum_wikis`
    have a failed one.
    """

    def __init__(self, minimum_wikis: int) -> None:
        self._minimum_wikis = minimum_wikis
        self._ended: deque[tuple[float, str, _Tally, bool]] = deque()
        self._wikis: dict[str, _Tally] = {}
        self.requests = self.failed = self.failing = 0

    @property
    def is_broad(self) -> bool:
        """See `RequestWindow`."""
        return self.failing >= self._minimum_wikis

    def add(self, now: float, ask: Ask, *, failed: bool) -> None:
        """See `RequestWindow`."""
        tally = self._wikis.setdefault(ask.wiki_id, _Tally())
        self._ended.append((now, ask.wiki_id, tally, failed))
        self._count(tally, 1, failed)

    def leave_out(self, wiki_id: str) -> None:
        """The wiki's own breaker has opened: how its requests went says nothing about the endpoint."""
        tally = self._wikis.pop(wiki_id, None)
        if tally is not None:
            tally.counts = False
            self.requests -= tally.requests
            self.failed -= tally.failed
            self.failing -= tally.failed > 0

    def forget_before(self, moment: float) -> None:
        """See `RequestWindow`."""
        while self._ended and self._ended[0][0] < moment:
            _, wiki_id, tally, failed = self._ended.popleft()
            if tally.counts:
                self._count(tally, -1, failed)
                if not tally.requests:
                    del self._wikis[wiki_id]

    def clear(self) -> None:
        """See `RequestWindow`."""
        self._ended.clear()
        self._wikis.clear()
        self.requests = self.failed = self.failing = 0

    def subject(self, ask: Ask) -> object:
        """See `RequestWindow`."""
        return ask.wiki_id

    def trial_subject(self, ask: Ask) -> object:
        """See `RequestWindow`."""
        return ask.wiki_id

    def _count(self, tally: _Tally, by: int, failed: bool) -> None:
        self.failing -= tally.failed > 0
        tally.requests += by
        tally.failed += by * failed
        self.failing += tally.failed > 0
        self.requests += by
        self.failed += by * failed
