"""All that answers depend on: seed, catalog, rules; and what came of it: attempts, parses, journal.

A world is built whole and then swapped in, so no request ever sees half of a new one. A request keeps the world it
began in to its end; what it still journals there is gone with that world, and so are parses without a waiting client.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from mockapi.clock import Clock, RequestClock
from mockapi.draws import digest
from mockapi.journal.changes import ControlChanges
from mockapi.journal.journal import Journal
from mockapi.journal.page_feed import PageFeed
from mockapi.journal.tally import Counts
from mockapi.rules.book import RuleBook
from mockapi.rules.matching import Target
from mockapi.rules.model import Rule
from mockapi.server.reply import Reply
from mockapi.upstream.load import UpstreamCounts
from mockapi.upstream.places import ConnectionCounts
from mockapi.upstream.upstream import Upstream
from mockapi.wiki.accounts import IMPLICIT, Accounts
from mockapi.wiki.catalog import CatalogPage, default_catalog
from mockapi.wiki.edits.overlay import Overlay
from mockapi.wiki.edits.page_change import PageChange, Record, record_nothing
from mockapi.wiki.pages.store import ENVELOPES_BYTES, ByteLru, PageStore
from mockapi.wiki.people import Author
from mockapi.wiki.wiki import Wiki
from mockapi.wiki.wikis import Wikis

MOST_ATTEMPTS: Final = 250_000


class Attempts:
    """How often each key was tried. A key is wiki and X-Request-Id, else wiki, client address and what is asked.

    Only the `limit` keys used last are remembered; a key that fell out starts again at 1.
    """

    def __init__(self, limit: int = MOST_ATTEMPTS) -> None:
        self._limit = limit
        self._counts: OrderedDict[Hashable, int] = OrderedDict()

    def next(self, key: Hashable) -> int:
        """Counts this attempt, from 1, and makes the key the one used last."""
        attempt = self._counts.pop(key, 0) + 1
        self._counts[key] = attempt
        if len(self._counts) > self._limit:
            self._counts.popitem(last=False)
        return attempt


RestbaseKind = Literal["gateway", "legacy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """What holds for all worlds of a process. `base_url` is where links lead, None for each wiki's own domain. What
    MediaWiki has and the mock has not is ignored if `lenient`.
    """

    base_url: str | None = None
    lenient: bool = False


DEFAULT_OPTIONS: Final = ProcessOptions()


@dataclass(frozen=True, kw_only=True)
class WorldCounts(Counts):
    """`clock_s` counts from the first request to the wiki, and is None before it."""

    clock_s: float | None
    upstream: UpstreamCounts
    connections: ConnectionCounts


class World:
    """One state of the mock. Its rules may be replaced while it lives; the rest stays."""

    def __init__(
        self,
        seed: int,
        catalog: Iterable[CatalogPage] | None,
        rules: tuple[Rule, ...],
        clock: Clock,
        *,
        options: ProcessOptions = DEFAULT_OPTIONS,
        restbase: RestbaseKind = "gateway",
    ) -> None:
        """Without a `catalog` the default one of the seed. `restbase` says who answers `/api/rest_v1`: today's gateway,
        or the service that was there before. Raises BaseUrlError.
        """
        self.seed = seed
        self.options = options
        self.restbase = restbase
        self.catalog = None if catalog is None else tuple(catalog)
        self.wikis = Wikis(default_catalog(seed) if self.catalog is None else self.catalog, options.base_url)
        self.pages = PageStore(seed, wikis=self.wikis)
        self.queries: ByteLru[Reply] = ByteLru(ENVELOPES_BYTES)
        self.attempts = Attempts()
        self.clock = RequestClock(clock.monotonic)
        self.upstream = Upstream(clock.monotonic, clock.later)
        self.journal = Journal(now=clock.now, monotonic=clock.monotonic)
        self.rulebook = RuleBook(seed, clock.monotonic, clock.later, self.upstream.parser.follow, self.clock.elapsed)
        self.now = clock.now
        self._overlays: dict[str, Overlay] = {}
        self._accounts: dict[str, Accounts] = {}
        self._request_ids = 0
        self._record: Record = record_nothing
        self.rulebook.replace(rules)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules in their order, also those that are over or switched off."""
        return self.rulebook.rules

    @property
    def rule_names(self) -> tuple[str, ...]:
        """In the order in which they apply, also of rules that can no longer fire."""
        return tuple(rule.name for rule in self.rules)

    def separate_wiki(self, target: Target) -> str:
        """The wiki by which draws and counts are kept apart; empty in a catalog of one wiki."""
        return "" if len(self.wikis) == 1 else target.wiki or ""

    def overlay(self, wiki: Wiki, request_id: str) -> Overlay:
        """For the writes of a request. Made with the first write; each wiki of the world has its own."""
        overlay = self._overlays.get(wiki.name)
        if overlay is None:
            overlay = self._overlays[wiki.name] = Overlay(
                wiki, self.seed, self.now, record=self._record_change, groups_of=self._groups_of(wiki)
            )
        return overlay.for_request(request_id)

    def _record_change(self, change: PageChange) -> None:
        self._record(change)

    def _groups_of(self, wiki: Wiki) -> Callable[[Author], tuple[str, ...]]:
        def groups_of(author: Author) -> tuple[str, ...]:
            accounts = self.accounts(wiki)
            user = accounts.user(author.name) if author.id else None
            return IMPLICIT if author.id and user is None else accounts.groups_of(user)

        return groups_of

    def accounts(self, wiki: Wiki) -> Accounts:
        """Made when they are first asked for; each wiki of the world has its own."""
        accounts = self._accounts.get(wiki.name)
        if accounts is None:
            accounts = self._accounts[wiki.name] = Accounts(self.seed)
        return accounts

    def begin(self) -> None:
        """The world is the one that answers from now on."""
        self.rulebook.begin()

    def follow(self, record: Record) -> None:
        """Has `record` get each change of a page from now on, until `end`."""
        self._record = record

    def end(self) -> None:
        """Another one answers; requests that began here go on, and what they write is not recorded."""
        self._record = record_nothing
        self.rulebook.close()
        self.upstream.parser.retire()

    def counts(self) -> WorldCounts:
        """What journal and parser counted since they were last told to forget it."""
        counts = self.journal.counts(self.rule_names)
        return WorldCounts(
            **vars(counts),
            clock_s=self.clock.elapsed(),
            upstream=self.upstream.parser.counts(),
            connections=self.upstream.places.counts(),
        )

    def forget(self) -> None:
        """Empties the journal and begins to count anew; the clock goes on."""
        self.journal.clear()
        self.upstream.parser.forget()
        self.upstream.places.forget()

    def request_id(self) -> str:
        """An id of 24 hex digits for a request that brought none."""
        self._request_ids += 1
        return digest(self.seed, "request id", self._request_ids, size=12).hex()


class Worlds:
    """Holds the world that new requests begin in, and makes others; all have the first one's options.
    `changes` are those that the control made, to any of them, `feed` has what was written to their pages.
    """

    def __init__(self, first: World, clock: Clock) -> None:
        self._current = first
        self._start = (first.seed, first.catalog, first.rules)
        self._restbase_at_start = first.restbase
        self.clock = clock
        self.changes = ControlChanges(clock.now)
        self.feed = PageFeed(clock.now)
        first.follow(self.feed.record)

    @property
    def current(self) -> World:
        """Changes with `replace`; keep the object for as long as one request lasts."""
        return self._current

    def populate(
        self,
        seed: int,
        catalog: Iterable[CatalogPage] | None,
        rules: tuple[Rule, ...],
        *,
        restbase: RestbaseKind = "gateway",
    ) -> None:
        """Lets new requests begin in a new world of these. Raises BaseUrlError."""
        self.replace(World(seed, catalog, rules, self.clock, options=self._current.options, restbase=restbase))

    def reset(self) -> None:
        """Lets new requests begin in a world as the first one was at its start."""
        self.populate(*self._start, restbase=self._restbase_at_start)

    def replace(self, new: World) -> None:
        """Lets new requests begin in `new`."""
        replaced, self._current = self._current, new
        replaced.end()
        self.feed.begin_epoch()
        new.follow(self.feed.record)
        new.begin()
