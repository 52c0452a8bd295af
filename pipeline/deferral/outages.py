"""Which wikis are open, as the driver knows it from its tasks; and when a probe may ask whether one is healthy again.

    main lane   reports ─▶ open: no batch is planned ─▶ probes, at growing intervals ─▶ a good answer ─▶ closed
    slow lane   rests while any wiki is open, so an outage costs no entry its tries

All wikis may share an endpoint, and a small one never has requests enough to be found open, so all of them rest. The
slow lane says nothing about a wiki: what it asks for was deferred because it failed, and a few pages that fail for
their own sake would keep all others there from their turn. All of this is of one process: the first batch of the next
finds out by itself.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pipeline import log
from pipeline.config import Breaker
from pipeline.events import BreakerClosed, BreakerOpen, BreakerProbe
from pipeline.fetch.breaker import KEPT_FAILURES, Answer, Ask, Opened


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
        self._open: dict[str, _Open] = {}
        # The last backoff of each wiki that was not seen healthy since, except by a probe.
        self._rested_s: dict[str, float] = {}
        self._ever: set[str] = set()

    def reported(self, opened: Iterable[Opened]) -> None:
        """What the tasks of a batch have found, all of it."""
        found = _merged(opened)
        with self._lock:
            # What was asked again and not reported has succeeded.
            for wiki_id in [one for one in self._rested_s if one not in found and one not in self._open]:
                del self._rested_s[wiki_id]
            for wiki_id, one in found.items():
                delay_s = self._longer(self._rested_s.get(wiki_id))
                remaining_s = max(delay_s, min(one.retry_after_s, self._cap_s))
                now = self._clock()
                self._open[wiki_id] = _Open(now, delay_s, now + remaining_s, _in_turn(one))
                self._rested_s[wiki_id] = delay_s
                self._ever.add(wiki_id)
                log.say(
                    BreakerOpen(
                        wiki=wiki_id,
                        requests=one.requests,
                        failed=one.failed,
                        why=one.why[:500],
                        remaining_s=round(remaining_s, 3),
                    )
                )

    @property
    def waits(self) -> tuple[str, ...]:
        """The wikis for which the main lane waits."""
        with self._lock:
            return tuple(self._open)

    @property
    def status(self) -> dict[str, bool]:
        """Every wiki whose breaker has opened, and whether it is open."""
        with self._lock:
            return {wiki_id: wiki_id in self._open for wiki_id in self._ever}

    def due(self) -> list[tuple[str, Ask]]:
        """The probes whose time has come, one for each wiki; `probed` has to follow."""
        with self._lock:
            now = self._clock()
            return [(wiki_id, one.asks[0]) for wiki_id, one in self._open.items() if one.next_at <= now and one.asks]

    def probed(self, wiki_id: str, ask: Ask, answer: Answer) -> None:
        """How the wiki answered a probe. A good answer closes it."""
        with self._lock:
            one = self._open[wiki_id]
            one.probes += 1
            now = self._clock()
            if not answer.failed:
                del self._open[wiki_id]
            else:
                one.asks.rotate(-1)  # one revision may fail for its own sake
                one.delay_s = self._rested_s[wiki_id] = self._longer(one.delay_s)
                one.next_at = now + max(one.delay_s, min(answer.retry_after_s or 0.0, self._cap_s))
            next_s = round(one.next_at - now, 3) if answer.failed else None
            healthy = not answer.failed
            log.say(BreakerProbe(wiki=wiki_id, path=ask.path, answer=answer.why[:500], healthy=healthy, next_s=next_s))
            if healthy:
                log.say(BreakerClosed(wiki=wiki_id, seconds=round(now - one.since, 3), probes=one.probes))

    @property
    def resting(self) -> bool:
        """Whether the slow lane begins nothing."""
        with self._lock:
            return bool(self._open)

    @property
    def _cap_s(self) -> float:
        return self._settings.open_for_cap.total_seconds()

    def _longer(self, delay_s: float | None) -> float:
        first_s = self._settings.open_for.total_seconds()
        return first_s if delay_s is None else min(self._cap_s, max(first_s, 2 * delay_s))


def _in_turn(one: Opened) -> deque[Ask]:
    """What failed last comes first, then what succeeded: the others may all fail for reasons of their own."""
    succeeded = () if one.succeeded is None else (one.succeeded,)
    return deque(dict.fromkeys((*one.asks[:1], *succeeded, *one.asks[1:])))


def _merged(opened: Iterable[Opened]) -> dict[str, Opened]:
    """One for each wiki, of what several workers say."""
    found: dict[str, Opened] = {}
    for one in opened:
        before = found.get(one.wiki_id)
        found[one.wiki_id] = one if before is None else _both(before, one)
    return found


def _both(one: Opened, other: Opened) -> Opened:
    return Opened(
        one.wiki_id,
        one.requests + other.requests,
        one.failed + other.failed,
        one.why,
        # Of each its newest come first. However many workers say so, no more than one of them alone would name.
        tuple(dict.fromkeys((*one.asks[:1], *other.asks[:1], *one.asks[1:], *other.asks[1:])))[:KEPT_FAILURES],
        one.succeeded or other.succeeded,
        max(one.retry_after_s, other.retry_after_s),
    )
