"""All that answers depend on: seed, catalog, rules; and what came of it: attempts, parses, journal.

A world is built whole and then swapped in, so no request ever sees half of a new one. A request keeps the world it
began in to its end; what it still journals there is gone with that world, and so are parses that nobody waits for.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mockapi.attempts import Attempts
from mockapi.catalog import CatalogPage
from mockapi.default_catalog import default_catalog
from mockapi.draws import digest
from mockapi.journal import Journal
from mockapi.pages.store import PageStore
from mockapi.request_clock import RequestClock
from mockapi.rules.model import Rule
from mockapi.tally import Counts
from mockapi.titles import TitleTable
from mockapi.upstream.load import UpstreamCounts
from mockapi.upstream.parser import Parser
from mockapi.upstream.pool import Later, Timer


def _on_the_loop(seconds: float, call: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(seconds, call)


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` gives aware times, `monotonic` seconds from an arbitrary start, `later` calls a function after seconds."""

    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    monotonic: Callable[[], float] = time.monotonic
    later: Later = _on_the_loop


@dataclass(frozen=True, kw_only=True)
class WorldCounts(Counts):
    """`clock_s` counts from the first request to the wiki, and is None before it."""

    clock_s: float | None
    upstream: UpstreamCounts


class World:
    """One state of the mock. Its rules may be replaced while it lives; the rest stays."""

    def __init__(self, seed: int, catalog: Iterable[CatalogPage] | None, rules: tuple[Rule, ...], clock: Clock) -> None:
        """Without a `catalog` the default one of the seed."""
        self.seed = seed
        self.titles = TitleTable(default_catalog(seed) if catalog is None else catalog)
        self.pages = PageStore(seed)
        self.attempts = Attempts()
        self.clock = RequestClock(clock.monotonic)
        self.parser = Parser(clock.monotonic, clock.later)
        self.journal = Journal(now=clock.now, monotonic=clock.monotonic)
        self._request_ids = 0
        self.replace_rules(rules)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force, in their order."""
        return self._rules

    @property
    def rule_names(self) -> tuple[str, ...]:
        """The names of the rules in force."""
        return tuple(rule.name for rule in self._rules)

    def replace_rules(self, rules: tuple[Rule, ...]) -> None:
        """Puts `rules` into force for the requests that come in from now on, and their capacities for all."""
        self._rules = rules
        self.parser.follow(rules)

    def counts(self) -> WorldCounts:
        """What journal and parser counted since they were last told to forget it."""
        counts = self.journal.counts(self.rule_names)
        return WorldCounts(**vars(counts), clock_s=self.clock.elapsed(), upstream=self.parser.counts())

    def forget(self) -> None:
        """Empties the journal and begins to count anew; the clock goes on."""
        self.journal.clear()
        self.parser.forget()

    def request_id(self) -> str:
        """An id of 24 hex digits for a request that brought none."""
        self._request_ids += 1
        return digest(self.seed, "request id", self._request_ids, size=12).hex()


class Worlds:
    """Holds the world that new requests begin in."""

    def __init__(self, first: World, clock: Clock) -> None:
        self._current = first
        self.clock = clock

    @property
    def current(self) -> World:
        """The world of the requests that come in now."""
        return self._current

    def replace(self, new: World) -> None:
        """Lets new requests begin in `new`."""
        replaced, self._current = self._current, new
        replaced.parser.retire()
