"""What is open, the endpoint or single wikis, as the driver knows it from its tasks; and when a probe may ask whether
it is healthy again.

    main lane   reports ─▶ open ─▶ probes, at growing intervals ─▶ a good answer ─▶ closed
                the endpoint: no batch is planned │ a wiki: the tasks of the next batches ask nothing of it
    slow lane   rests while the endpoint is open, and leaves the pages of wikis that are: an outage costs no tries

A wiki is probed with what failed there, the endpoint with what failed at several wikis in turn; while the endpoint is
open no wiki is probed. The slow lane says nothing about either: what it asks for was deferred because it failed, and a
few pages that fail for their own sake would keep all others from their turn. All of this is of one process: the first
batch of the next finds out by itself.
"""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from pipeline import log
from pipeline.config.pipeline_config import Breaker
from pipeline.deferral.entry import Entry
from pipeline.events import BreakerClosed, BreakerOpen, BreakerProbe, Grain
from pipeline.fetch.breaker import ENDPOINT, KEPT_FAILURES, Answer, Opened, Scope
from pipeline.fetch.route import Ask
from pipeline.records.record import Position

NAMED_WIKIS = 20
"""Number of wikis that are named at once where names are costly, as in a metric's labels."""
OTHERS = "others"

BreakerStatus = Mapping[tuple[Grain, str], int]
"""How many breakers are open: of the endpoint, of each wiki by its id, and of all wikis that are not named."""


@dataclass(slots=True)
class _Open:
    since: float
    delay_s: float
    next_at: float
    asks: deque[Ask] = field(default_factory=deque)
    probes: int = 0


class Outages:
    """Any thread may call it. `clock` counts seconds and never goes back."""

    def __init__(self, settings: Breaker, clock: Callable[[], float]) -> None:
        self._settings, self._clock = settings, clock
        self._lock = threading.Lock()
        self._open: dict[Scope, _Open] = {}
        # The last backoff of each that was not seen healthy since, except by a probe.
        self._rested_s: dict[Scope, float] = {}
        # When each that was ever open was last so.
        self._last: dict[Scope, float] = {}
        self._named: dict[str, None] = {}

    def reported(self, opened: Iterable[Opened], refused: Set[str] = frozenset()) -> Set[Scope]:
        """Opens the breakers that the tasks of a batch reported; they sent no request to the `refused` wikis. Returns
        the scopes that are open by that.
        """
        by_scope = _merged(opened)
        with self._lock:
            # What was asked again and not reported has succeeded.
            for scope in [scope for scope in self._rested_s if scope not in {*by_scope, *self._open, *refused}]:
                del self._rested_s[scope]
            for scope, report in by_scope.items():
                self._opens(scope, report)
        return by_scope.keys()

    @property
    def endpoint_is_open(self) -> bool:
        """Whether the main lane waits, whatever there is to do, and the slow lane begins nothing."""
        with self._lock:
            return ENDPOINT in self._open

    @property
    def open_wikis(self) -> frozenset[str]:
        """The wikis that are open by themselves."""
        with self._lock:
            return frozenset(scope for scope in self._open if scope is not ENDPOINT)

    def was_open(self, wiki_id: str | None, since: float) -> bool:
        """Whether the wiki, or the endpoint, was open at any moment since that one."""
        with self._lock:
            return any(self._last.get(scope, -math.inf) >= since for scope in {wiki_id, ENDPOINT})

    @property
    def status(self) -> BreakerStatus:
        """Every breaker that has opened, as far as it is named, and whether it is open; a few wikis are named."""
        with self._lock:
            status: dict[tuple[Grain, str], int] = {
                ("wiki", wiki_id): int(wiki_id in self._open) for wiki_id in self._named
            }
            if ENDPOINT in self._last:
                status["endpoint", ""] = int(ENDPOINT in self._open)
            if len(self._last) - (ENDPOINT in self._last) > len(self._named):
                unnamed = [scope for scope in self._open if scope is not ENDPOINT and scope not in self._named]
                status["wiki", OTHERS] = len(unnamed)
            return status

    def due(self, most: int = 1_000_000) -> list[tuple[Scope, Ask]]:
        """The probes whose time has come, one for each scope, at most the `most` that came first; `probed` follows."""
        with self._lock:
            now = self._clock()
            breakers = {ENDPOINT: self._open[ENDPOINT]} if ENDPOINT in self._open else self._open
            in_turn = sorted(breakers.items(), key=lambda item: item[1].next_at)
            probes = [(scope, breaker.asks[0]) for scope, breaker in in_turn if breaker.next_at <= now and breaker.asks]
            return probes[:most]

    def probed(self, scope: Scope, ask: Ask, answer: Answer) -> None:
        """How the wiki answered a probe. A good answer closes the breaker."""
        with self._lock:
            breaker = self._open[scope]
            breaker.probes += 1
            now = self._clock()
            if not answer.failed:
                del self._open[scope]
                self._last[scope] = now
            else:
                breaker.asks.rotate(-1)  # one revision, or one wiki, may fail for its own sake
                breaker.delay_s = self._rested_s[scope] = self._longer(breaker.delay_s)
                breaker.next_at = now + max(breaker.delay_s, min(answer.retry_after_s or 0.0, self._cap_s))
            next_s = round(breaker.next_at - now, 3) if answer.failed else None
            healthy = not answer.failed
            log.emit(
                BreakerProbe(
                    grain=_grain(scope),
                    wiki=scope or ask.wiki_id,
                    path=ask.path,
                    answer=answer.why[:500],
                    healthy=healthy,
                    next_s=next_s,
                )
            )
            if healthy:
                seconds = round(now - breaker.since, 3)
                log.emit(BreakerClosed(grain=_grain(scope), wiki=scope, seconds=seconds, probes=breaker.probes))

    def _opens(self, scope: Scope, report: Opened) -> None:
        delay_s = self._longer(self._rested_s.get(scope))
        remaining_s = max(delay_s, min(report.retry_after_s, self._cap_s))
        now = self._clock()
        self._open[scope] = _Open(now, delay_s, now + remaining_s, _in_turn(report))
        self._rested_s[scope] = delay_s
        self._last[scope] = math.inf
        if scope is not ENDPOINT:
            self._name(scope)
        log.emit(
            BreakerOpen(
                grain=_grain(scope),
                wiki=scope,
                wikis=report.wikis if scope is ENDPOINT else None,
                requests=report.requests,
                failed=report.failed,
                why=report.why[:500],
                remaining_s=round(remaining_s, 3),
            )
        )

    def _name(self, wiki_id: str) -> None:
        """Name it, if need be in the place of one that is closed."""
        if wiki_id in self._named:
            return
        if len(self._named) >= NAMED_WIKIS:
            closed = next((wiki for wiki in self._named if wiki not in self._open), None)
            if closed is None:
                return
            del self._named[closed]
        self._named[wiki_id] = None

    @property
    def _cap_s(self) -> float:
        return self._settings.open_for_cap.total_seconds()

    def _longer(self, delay_s: float | None) -> float:
        first_s = self._settings.open_for.total_seconds()
        return first_s if delay_s is None else min(self._cap_s, max(first_s, 2 * delay_s))


def _grain(scope: Scope) -> Grain:
    return "endpoint" if scope is ENDPOINT else "wiki"


def _in_turn(report: Opened) -> deque[Ask]:
    """Probes in order: the last failure, the last success, then the others, which may fail for reasons of their own."""
    succeeded = () if report.succeeded is None else (report.succeeded,)
    return deque(dict.fromkeys((*report.asks[:1], *succeeded, *report.asks[1:])))


def _merged(opened: Iterable[Opened]) -> dict[Scope, Opened]:
    """One report for each scope, from those of several workers."""
    by_scope: dict[Scope, Opened] = {}
    for report in opened:
        earlier = by_scope.get(report.scope)
        by_scope[report.scope] = report if earlier is None else _both(earlier, report)
    return by_scope


def _both(first: Opened, second: Opened) -> Opened:
    return Opened(
        first.scope,
        first.requests + second.requests,
        first.failed + second.failed,
        first.why,
        # Of each its newest come first. However many workers say so, no more than one of them alone would name.
        tuple(dict.fromkeys((*first.asks[:1], *second.asks[:1], *first.asks[1:], *second.asks[1:])))[:KEPT_FAILURES],
        first.succeeded or second.succeeded,
        max(first.retry_after_s, second.retry_after_s),
        max(first.wikis, second.wikis),
    )


class LostTries:
    """Tries that failed before an outage was known, which are given back when it is. For one lock, like the ledger.

    A worker knows of an outage when enough requests have failed, and the driver at the end of the batch. What failed
    until then in the batch, and in slow rounds that ended since the batch before it, was written with one try more. Not
    given back are the last try of an event, which is an error event by then, and those before a crash.
    """

    def __init__(self) -> None:
        self._of_rounds: dict[Position, str | None] = {}

    def in_round(self, rewritten: Iterable[Entry]) -> None:
        """These entries were tried by a slow round that has ended, and no outage was known of."""
        self._of_rounds.update((entry.position, entry.wiki_id) for entry in rewritten)

    def by(self, unhealthy: Set[Scope], written: Iterable[Entry]) -> list[Position]:
        """The entries whose last try met an `unhealthy` scope, each once: of those that the batch has `written`, and of
        the rounds since the batch before.
        """
        tries = self._of_rounds | {entry.position: entry.wiki_id for entry in written if entry.kind == "stuck"}
        self._of_rounds = {}
        return [position for position, wiki_id in tries.items() if ENDPOINT in unhealthy or wiki_id in unhealthy]


Probe = Callable[[str, Ask, Callable[[], bool]], Answer | None]
"""Makes one request to a wiki, by its id; None as soon as it is stopped, which the last argument tells."""

# Wikis that hang must not keep the others waiting for long, nor the endpoint's probe, should it open.
_AT_ONCE = 8


class Prober:
    """Probes what has an open breaker, while the main lane sends it no requests. `look` now and then; it returns when
    the probes that it made have been answered, or it is stopped.
    """

    def __init__(self, outages: Outages, probe: Probe, stopped: Callable[[], bool]) -> None:
        self._outages, self._probe, self._stopped = outages, probe, stopped

    def look(self) -> None:
        """Ask for those probes that have been due for longest, a few at once, and wait for the answers."""
        due = self._outages.due(_AT_ONCE)
        if not due:
            return
        with ThreadPoolExecutor(len(due), thread_name_prefix="probe") as threads:
            for _ in threads.map(self._ask, *zip(*due, strict=True)):
                pass

    def _ask(self, scope: Scope, ask: Ask) -> None:
        answer = self._probe(scope or ask.wiki_id, ask, self._stopped)
        if answer is not None:
            self._outages.probed(scope, ask, answer)
