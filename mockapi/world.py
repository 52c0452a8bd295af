"""All that answers depend on: seed, catalog, rules; and what came of it: attempts, journal.

A world is built whole and then swapped in, so no request ever sees half of a new one. A request keeps the world it
began in to its end; what it still journals there is gone with that world.
"""

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
from mockapi.rules.model import Rule
from mockapi.titles import TitleTable


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` gives aware times, `monotonic` seconds from an arbitrary start."""

    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    monotonic: Callable[[], float] = time.monotonic


class World:
    """One state of the mock. `rules` may be replaced while it lives; the rest stays."""

    def __init__(self, seed: int, catalog: Iterable[CatalogPage] | None, rules: tuple[Rule, ...], clock: Clock) -> None:
        """Without a `catalog` the default one of the seed."""
        self.seed = seed
        self.titles = TitleTable(default_catalog(seed) if catalog is None else catalog)
        self.rules = rules
        self.pages = PageStore(seed)
        self.attempts = Attempts()
        self.journal = Journal(now=clock.now, monotonic=clock.monotonic)
        self._request_ids = 0

    @property
    def rule_names(self) -> tuple[str, ...]:
        """The names of the rules in force."""
        return tuple(rule.name for rule in self.rules)

    def request_id(self) -> str:
        """An id of 24 hex digits for a request that brought none."""
        self._request_ids += 1
        return digest(self.seed, "request id", self._request_ids, size=12).hex()


class Worlds:
    """Holds the world that new requests begin in."""

    def __init__(self, first: World, clock: Clock) -> None:
        self.current = first
        self.clock = clock
