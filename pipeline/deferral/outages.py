"""Which wikis are open, as the driver knows it from its tasks; and when a probe may ask whether one is well again.

    main lane   reports ─▶ open: no batch is planned ─▶ probes, at growing intervals ─▶ a good answer ─▶ closed
    slow lane   reports ─▶ its pages rest for a time ─▶ the next round that takes one tries again

The slow lane closes nothing for the main lane: what it works off was put aside because it failed. Pages of an open wiki
are not due there, so an outage costs no entry its tries. All of this is of one process: the first batch of the next
finds out by itself.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import orjson

from pipeline import log
from pipeline.config import Breaker
from pipeline.deferral.entry import Entry
from pipeline.fetch.breaker import Answer, Ask, Opened
from pipeline.records.record import Position

Lane = Literal["main", "slow"]


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
        self._open: dict[Lane, dict[str, _Open]] = {"main": {}, "slow": {}}
        # How long the last rest was of a wiki that nobody has seen well since, but for a probe.
        self._rested_s: dict[tuple[Lane, str], float] = {}
        self._ever: set[tuple[Lane, str]] = set()
        self._wikis: dict[Position, str | None] = {}

    def reported(self, lane: Lane, opened: Iterable[Opened]) -> None:
        """What the tasks of a batch or a round have found, all of it."""
        found = _merged(opened)
        with self._lock:
            # What was asked again and not reported has gone well.
            for key in [key for key in self._rested_s if key[0] == lane and key[1] not in found]:
                if not self._is_open(*key):
                    del self._rested_s[key]
            for wiki_id, one in found.items():
                delay_s = self._longer(self._rested_s.get((lane, wiki_id)))
                rest_s = max(delay_s, min(one.retry_after_s, self._cap_s))
                now = self._clock()
                asks = deque(one.asks if one.well is None else [*one.asks, one.well])
                self._open[lane][wiki_id] = _Open(now, delay_s, now + rest_s, asks)
                self._rested_s[lane, wiki_id] = delay_s
                self._ever.add((lane, wiki_id))
                log.say(
                    "breaker_open",
                    wiki=wiki_id,
                    lane=lane,
                    requests=one.requests,
                    failed=one.failed,
                    why=one.why[:500],
                    rest_s=round(rest_s, 3),
                )

    @property
    def waits(self) -> tuple[str, ...]:
        """The wikis for which the main lane waits."""
        with self._lock:
            return tuple(self._open["main"])

    @property
    def standing(self) -> dict[tuple[str, str], bool]:
        """Lane and wiki of every breaker that has opened, and whether it is open."""
        with self._lock:
            return {(lane, wiki_id): self._is_open(lane, wiki_id) for lane, wiki_id in self._ever}

    def due(self) -> list[tuple[str, Ask]]:
        """The probes whose time has come, one for each wiki; `probed` has to follow."""
        with self._lock:
            now = self._clock()
            return [
                (wiki_id, one.asks[0]) for wiki_id, one in self._open["main"].items() if one.next_at <= now and one.asks
            ]

    def probed(self, wiki_id: str, ask: Ask, answer: Answer) -> None:
        """How the wiki answered a probe. A good answer closes it for both lanes."""
        with self._lock:
            one = self._open["main"][wiki_id]
            one.probes += 1
            now = self._clock()
            if not answer.failed:
                del self._open["main"][wiki_id]
                self._open["slow"].pop(wiki_id, None)
            else:
                one.asks.rotate(-1)  # one revision may fail for its own sake; the last of them did not fail
                one.delay_s = self._rested_s["main", wiki_id] = self._longer(one.delay_s)
                one.next_at = now + max(one.delay_s, min(answer.retry_after_s or 0.0, self._cap_s))
            said: dict[str, log.Value] = {"wiki": wiki_id, "path": ask.path, "answer": answer.why[:500]}
            if answer.failed:
                log.say("breaker_probe", **said, well=False, next_s=round(one.next_at - now, 3))
            else:
                log.say("breaker_probe", **said, well=True)
                log.say("breaker_closed", wiki=wiki_id, seconds=round(now - one.since, 3), probes=one.probes)

    def resting(self) -> Callable[[Iterable[Entry]], bool] | None:
        """Tells of a page of the ledger, by its entries, whether it is of a wiki that is not to be asked now; None
        when there is no such wiki. For one thread at a time.
        """
        with self._lock:
            wikis = {wiki_id for lane in self._open for wiki_id in self._open[lane] if self._is_open(lane, wiki_id)}
        if not wikis:
            self._wikis.clear()
            return None
        return lambda entries: any(self._wiki_of(entry) in wikis for entry in entries)

    @property
    def _cap_s(self) -> float:
        return self._settings.open_for_cap.total_seconds()

    def _longer(self, delay_s: float | None) -> float:
        first_s = self._settings.open_for.total_seconds()
        return first_s if delay_s is None else min(self._cap_s, max(first_s, 2 * delay_s))

    def _is_open(self, lane: Lane, wiki_id: str) -> bool:
        one = self._open[lane].get(wiki_id)
        # Nobody probes for the slow lane: when its time is over, its next round is the probe.
        return one is not None and (lane == "main" or self._clock() < one.next_at)

    def _wiki_of(self, entry: Entry) -> str | None:
        if entry.position not in self._wikis:
            self._wikis[entry.position] = wiki_in(entry.value)
        return self._wikis[entry.position]


def wiki_in(value: bytes | None) -> str | None:
    """The wiki that a source event names; None when it names none."""
    try:
        document = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        return None
    wiki_id = document.get("wiki_id") if isinstance(document, dict) else None
    return wiki_id if isinstance(wiki_id, str) else None


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
        # Of each its newest come first.
        tuple(dict.fromkeys((*one.asks[:1], *other.asks[:1], *one.asks[1:], *other.asks[1:]))),
        one.well or other.well,
        max(one.retry_after_s, other.retry_after_s),
    )
