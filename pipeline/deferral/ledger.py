"""The driver's state of the deferred events, and which lane may process them.

    main lane    plan ─▶ (write action) ─▶ batch_done ─▶ (tombstones acked) ─▶ forget
    slow lane    take ─▶ (events acked, then tombstones) ─▶ (the rest written again) ─▶ round_done ─▶ forget ─▶ release
    operator     command ─▶ (record acked)          repair      repairs ─▶ (records acked)

A page is blocked exactly while it has an entry here when a batch is planned; nothing else releases it. An entry stays
until its tombstone is acked, and a page belongs to at most one of the lanes. Until a batch is replayed a *gate* stands
at the offsets where it begins: behind it the ledger may hold entries whose earlier events were never emitted, so the
slow lane gets none of them, only those of a page up to the gate. Likewise no lane gets an entry of an *unhealthy* wiki,
whose breaker is open, nor what is behind one on its page.

The caller holds one lock around every call. It keeps the lock from `batch_done` to the `forget` that follows, and
while what `command` and `repairs` return is written and acked. A write that fails leaves all this worthless: the query
must fail, and a new ledger be folded.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from itertools import islice, takewhile

from pipeline.deferral.entry import Entry, Page, order, rests
from pipeline.deferral.pages import Pages
from pipeline.deferral.snapshot import Fence, Reservation, Round, Snapshot
from pipeline.deferral.wire import Action
from pipeline.records.record import Position, SourcePartition

__all__ = ["Ledger", "ProtocolError", "Round", "Snapshot"]


class ProtocolError(RuntimeError):
    """The caller's steps are not in the order that keeps events in theirs."""


class Ledger:
    """`entries` are those of the fold, in its order. `replay` is the gate: the offset in each partition of the source
    at which the batch begins that Spark will replay. A partition that it does not name begins with that batch. None
    when there is none.

    Spark's logs have to be asked after the epoch's markers are written: a driver that lives on elsewhere may plan one
    more batch, and only before the marker can it still write entries of it here.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        *,
        max_entries: int,
        max_bytes: int,
        replay: Mapping[SourcePartition, int] | None = None,
        longest_rest_ms: int = 2**63,
    ) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._replay = replay
        self._pages = Pages(longest_rest_ms)
        self._longest_rest_ms = longest_rest_ms
        self._batch: Snapshot | None = None
        self._batch_is_written = False
        self._reserved_pages: frozenset[Page] = frozenset()
        self._held: dict[Page, int] = {}
        self._rounds = 0
        self._resolving: set[Position] = set()
        self._voids: dict[Position, bool] = {}
        self._committed: dict[SourcePartition, int] = {}
        for entry in entries:
            self._pages.put(entry)

    @property
    def entries(self) -> int:
        """Number of deferred events."""
        return len(self._pages)

    @property
    def bytes(self) -> int:
        """Size of the entries, as `Entry.size` counts it."""
        return self._pages.bytes

    @property
    def pages(self) -> int:
        """Number of pages with an entry."""
        return self._pages.count

    @property
    def over_bound(self) -> bool:
        """Whether entries or bytes exceed their bound; one batch may exceed it before the next has to wait."""
        return self.entries > self._max_entries or self.bytes > self._max_bytes

    @property
    def must_wait(self) -> bool:
        """Whether the main lane has to wait before it plans: over the bound, and there is something that will be
        emitted meanwhile.

        A replayed batch does not wait for what stands behind the gate, which only the batch itself can open. So what is
        deferred is never more than the bound and one batch, however often the job restarts.
        """
        return self.over_bound and (self._replay is None or self._pages.begin_before(self._replay))

    def exceeds(self, share: float, unhealthy: Set[str]) -> bool:
        """Whether what is deferred of these wikis takes more than a share of the bounds."""
        entries, size = self.deferred_of(unhealthy)
        return entries > share * self._max_entries or size > share * self._max_bytes

    def deferred_of(self, wikis: Set[str]) -> tuple[int, int]:
        """Number and bytes of the deferred events of these wikis, with all entries behind them on their pages."""
        return self._pages.size_of(wikis)

    def get(self, position: Position) -> Entry | None:
        """None when the position is not deferred."""
        return self._pages.get(position)

    def listing(self) -> list[Entry]:
        """All entries, page by page, each in order; the page that was deferred first comes first."""
        return [entry for page in self._pages for entry in self._pages.entries(page)]

    def plan(self, *, limit_entries: int, limit_bytes: int, now_ms: int, unhealthy: Set[str] = frozenset()) -> Snapshot:
        """Step 2: reserve what the next batch takes along, and freeze the rest.

        Reservations are a prefix of their page, of pages that have no stuck entry and are not held; those that were
        deferred first come first, up to the limits, but at least one. Of `unhealthy` wikis there are none. Raises
        ProtocolError while a batch is under way.
        """
        if self._batch is not None:
            raise ProtocolError("a batch is planned while another is under way")
        reserved = self._reserve(limit_entries, limit_bytes, now_ms, unhealthy)
        reservations = {entry.position: Reservation.of(entry) for entry in reserved}
        blocked, unreserved = self._pages.frozen(without=reserved)
        self._batch = Snapshot(Fence(blocked, unreserved, reservations), reserved, unhealthy)
        self._batch_is_written = False
        self._reserved_pages = frozenset(entry.page for entry in reserved)
        return self._batch

    def batch_done(self, snapshot: Snapshot, written: Iterable[Entry]) -> list[Position]:
        """Step 4, first half, when all of the batch is acked: apply the entries it wrote to the topic.

        Returns what it reserved and did not write again, in order: tombstone these, then call `forget` with them. Until
        then their pages stay reserved. With nothing to tombstone the batch is over at once.
        """
        if snapshot is not self._batch or self._batch_is_written:
            raise ProtocolError("a batch is done that is not under way")
        # The slow lane and operators apply their own records; what is in the fold of them may be older than that.
        fresh = {entry.position: entry for entry in written if entry.position not in snapshot.unreserved}
        for entry in fresh.values():
            self._pages.put(entry)
        resolved = [entry.position for entry in snapshot.reserved if entry.position not in fresh]
        self._resolving.update(resolved)
        self._batch_is_written = True
        self._end_batch()
        return resolved

    def forget(self, positions: Iterable[Position]) -> None:
        """Behind `batch_done` and `round_done`, when the tombstones of `positions` are acked."""
        for position in positions:
            if position not in self._resolving:
                raise ProtocolError(f"{position} is forgotten, but was never resolved")
            self._resolving.remove(position)
            self._pages.remove(position)
        self._end_batch()

    def take(
        self, *, now_ms: int, max_pages: int, max_entries: int, idle: bool, unhealthy: Set[str] = frozenset()
    ) -> Round | None:
        """Step 5: pages for a slow round, which holds them until `release`; None when there is nothing to do.

        Pages with a stuck entry and none that has to wait longer; when the main lane is `idle`, pages without a stuck
        entry as well, after the others. Of each its first entries, up to the gate and to the first of an `unhealthy`
        wiki, and at most `max_entries` of all.
        Idle means: it waits for the bound, or has not planned a batch for max(1 s, twice the trigger). The gap between
        two batches is not idle: a busy page would never get back.
        """
        chosen = self._due(now_ms, max_pages, unhealthy, stuck=True)
        if idle and self._batch is None:
            chosen += self._due(now_ms, max_pages - len(chosen), unhealthy, stuck=False)
        if not chosen:
            return None
        self._rounds += 1
        slow_round = Round(self._rounds, tuple(self._first(chosen, max_entries, unhealthy)))
        self._held.update((page, slow_round.number) for page, _entries in slow_round.pages)
        return slow_round

    def round_done(self, done: Round, *, resolved: Iterable[Position], rewritten: Iterable[Entry]) -> list[Position]:
        """Applies the `rewritten` entries, once all records and tombstones of the round are acked.

        Returns `resolved` in order: call `forget` with them, then `release`. An entry that is neither stays as it was.
        """
        self._check_held(done)
        own = {entry.position for entry in done.entries}
        rewritten_at = {entry.position: entry for entry in rewritten}
        resolved_positions = set(resolved)
        if strange := {*rewritten_at, *resolved_positions} - own or set(rewritten_at) & resolved_positions:
            names = ", ".join(sorted(map(str, strange)))
            raise ProtocolError(f"slow round {done.number} took no such entry, or resolved it and kept it: {names}")
        for entry in rewritten_at.values():
            self._pages.put(entry)
        self._resolving.update(resolved_positions)
        return sorted(resolved_positions, key=order)

    def release(self, done: Round) -> None:
        """The round is over: its pages may be reserved or taken again. Not before what it resolved is forgotten."""
        self._check_held(done)
        if resolving := self._resolving_of(done.entries):
            raise ProtocolError(f"slow round {done.number} is released before {resolving[0]} is forgotten")
        for page, _entries in done.pages:
            del self._held[page]

    def busy(self, position: Position) -> bool:
        """Whether a lane has the page of this entry, so that the other lane may not write its record."""
        page = self._pages.page_of(position)
        return page is not None and not self._is_free(page)

    def command(self, position: Position, action: Action) -> Entry | None:
        """An operator's wish: the entry to write to the topic, or None when the position is not in the ledger.

        Raises ProtocolError while the entry is `busy`; ask again when the lane is done.
        """
        if self.busy(position):
            raise ProtocolError(f"a lane is at work on the page of {position}")
        entry = self.get(position)
        if entry is None:
            return None
        changed = replace(entry, not_before_ms=0, dropped=entry.dropped or action == "drop")
        self._pages.put(changed)
        return changed

    def give_back_tries(self, positions: Iterable[Position]) -> list[Entry]:
        """What to write for these entries, whose last try met an outage: with one try less. Those that were emitted,
        were not tried or are `busy` are passed over.
        """
        changed = []
        for position in positions:
            entry = self.get(position)
            if entry is not None and entry.attempt and not self.busy(position):
                changed.append(replace(entry, attempt=entry.attempt - 1))
                self._pages.put(changed[-1])
        return changed

    def repairs(
        self, voids: Iterable[Position] = (), lost: Set[Position] = frozenset()
    ) -> list[tuple[Position, Entry | None]]:
        """What to write over void records: the entry, or a tombstone when there is none.

        Positions that are busy are kept back and come with a later call, so call it after each batch and round. So are
        those without an entry that are not known to be committed: their event may still be deferred, by this driver or
        by the next. A tombstone that arrives behind that entry, when this driver is gone, would be void itself; and
        compaction, which knows no epochs, would keep neither of the two. At `lost` positions the void record is of an
        attempt that has lost in a batch of this driver, which is settled: the event has left.
        """
        self._voids.update((position, position in lost) for position in voids)
        ready = [position for position in self._voids if not self.busy(position) and self._is_known(position)]
        for position in ready:
            del self._voids[position]
        return [(position, self.get(position)) for position in ready]

    def committed(self, ends: Mapping[SourcePartition, int]) -> None:
        """The next offset of each partition by a committed batch: below it, what has no entry here has left."""
        self._committed = {**self._committed, **ends}

    def _is_known(self, position: Position) -> bool:
        if self._voids[position] or self.get(position) is not None:
            return True
        return position.offset < self._committed.get(SourcePartition(position.topic, position.partition), 0)

    def _reserve(self, limit_entries: int, limit_bytes: int, now_ms: int, unhealthy: Set[str]) -> tuple[Entry, ...]:
        reserved: list[Entry] = []
        reserved_bytes = 0
        for page in self._pages.unstuck():
            if page in self._held:
                continue
            for entry in self._healthy(page, self._pages.entries(page), unhealthy):
                if rests(entry.not_before_ms, now_ms, self._longest_rest_ms):
                    break
                reserved_bytes += entry.size
                if reserved and (len(reserved) >= limit_entries or reserved_bytes > limit_bytes):
                    return tuple(reserved)
                reserved.append(entry)
        return tuple(reserved)

    def _due(self, now_ms: int, max_pages: int, unhealthy: Set[str], *, stuck: bool) -> list[Page]:
        due = self._pages.due(now_ms, stuck=stuck)
        free = (page for page in due if self._is_free(page) and self._takeable(page, unhealthy))
        return list(islice(self._pages.by_rank(free), max_pages))

    def _end_batch(self) -> None:
        if self._batch is not None and self._batch_is_written and not self._resolving_of(self._batch.reserved):
            self._batch = None
            self._reserved_pages = frozenset()
            self._replay = None

    def _resolving_of(self, entries: Iterable[Entry]) -> list[Position]:
        return [entry.position for entry in entries if entry.position in self._resolving]

    def _check_held(self, done: Round) -> None:
        if any(self._held.get(page) != done.number for page, _entries in done.pages):
            raise ProtocolError(f"slow round {done.number} does not hold its pages")

    def _before_gate(self, page: Page) -> tuple[Entry, ...]:
        entries = self._pages.entries(page)
        if self._replay is None:
            return entries
        topic, partition, _key = page
        gate = self._replay.get(SourcePartition(topic, partition), 0)
        return tuple(entry for entry in entries if entry.position.offset < gate)

    def _takeable(self, page: Page, unhealthy: Set[str]) -> tuple[Entry, ...]:
        return self._healthy(page, self._before_gate(page), unhealthy)

    def _healthy(self, page: Page, entries: tuple[Entry, ...], unhealthy: Set[str]) -> tuple[Entry, ...]:
        """The entries before the first one of an unhealthy wiki. An entry that was never tried belongs to the wiki of
        its page; a dropped one sends no request.
        """
        if not unhealthy:
            return entries
        of_page = self._pages.wiki_of(page)
        return tuple(takewhile(lambda entry: entry.dropped or (entry.wiki_id or of_page) not in unhealthy, entries))

    def _first(self, pages: Iterable[Page], most: int, unhealthy: Set[str]) -> Iterator[tuple[Page, tuple[Entry, ...]]]:
        for page in pages:
            entries = self._takeable(page, unhealthy)[:most]
            if not entries:
                return
            most -= len(entries)
            yield page, entries

    def _is_free(self, page: Page) -> bool:
        return page not in self._held and page not in self._reserved_pages
