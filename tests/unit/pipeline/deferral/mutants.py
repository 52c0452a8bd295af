"""The protocol with one piece of it broken at a time, to show that the model would notice."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from pipeline.deferral.entry import Entry, Page
from pipeline.deferral.fold import Folded, Winners, fold
from pipeline.deferral.lane import Destination, MainLane, SlowLane
from pipeline.deferral.ledger import Ledger, Round, Snapshot
from pipeline.deferral.wire import EntryItem, EpochMarker
from pipeline.records.record import Position, SourcePartition
from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.under_way import Batch, Working
from tests.unit.pipeline.deferral.world import Write


class NoGate(Driver):
    """The slow lane works while a batch is being replayed."""

    def _replay(self) -> None:
        return None


class SlowTombstoneBeforeAck(Driver):
    """A slow round resolves its entries while their output is still on its way."""

    def _resolved_by(self, emission: Write, gone: Write) -> list[Write]:
        return [emission, gone]


class RoundKeepsNothing(Driver):
    """A slow round resolves its entries at its end, so a crash repeats all of it."""

    def _resolved_by(self, emission: Write, gone: Write) -> list[Write]:
        gone.landed = True
        return [emission]

    def finish(self, working: Working) -> None:
        super().finish(working)
        assert working.last is not None
        working.last += self._tombstones(working.resolved)


class MainTombstoneBeforeAck(Driver):
    """The tombstones of reserved entries go out together with their output."""

    def plan(self) -> None:
        super().plan()
        assert self.batch
        assert self.batch.snapshot
        emitted = {write.payload[0] for write in self.batch.writes}
        self._tombstones(entry.position for entry in self.batch.snapshot.reserved if entry.position in emitted)


class UnblockOnTake(Driver):
    """A page is free for the main lane as soon as the slow lane has taken it."""

    class ledger_type(Ledger):  # noqa: N801
        def plan(self, **limits: Any) -> Snapshot:
            snapshot = super().plan(**limits)
            blocked = {page: first for page, first in snapshot.blocked.items() if page not in self._held}
            self._batch = replace(snapshot, fence=replace(snapshot.fence, blocked=blocked))
            return self._batch


class FoldAfterNextPlan(Driver):
    """What a batch deferred is known to the ledger only when the next batch is planned already."""

    late: Iterable[Entry] = ()

    def _batch_done(self, snapshot: Snapshot, folded: Folded, number: int) -> list[Position]:
        written = folded.written_by(number)
        reserved = {entry.position for entry in snapshot.reserved}
        self.late = [entry for entry in written if entry.position not in reserved]
        return self.ledger.batch_done(snapshot, [entry for entry in written if entry.position in reserved])

    def plan(self) -> None:
        super().plan()
        for entry in self.late:
            self.ledger._pages.put(entry)
        self.late = ()


class OnlyPagesThatBeginStuck(Driver):
    """Neither lane takes a page whose stuck entry stands behind a waiting one."""

    class ledger_type(Ledger):  # noqa: N801
        def take(self, *, idle: bool, **limits: Any) -> Round | None:
            taken = super().take(idle=idle, **limits)
            if taken is None or idle:
                return taken
            pages = tuple((page, entries) for page, entries in taken.pages if entries[0].kind == "stuck")
            self.release(taken)
            self._held.update((page, taken.number) for page, _entries in pages)
            return Round(taken.number, pages) if pages else None


class ReplayWaitsForTheBound(Driver):
    """A replayed batch waits for room, which only the slow lane could make, behind the gate."""

    def _must_wait(self) -> bool:
        return self.ledger.over_bound


class ReplayIgnoresTheBound(Driver):
    """A replayed batch never waits: each restart adds a batch to a ledger that is over its bound."""

    def _must_wait(self) -> bool:
        return self.ledger.must_wait and self.ledger._replay is None


class WholePagesBeforeTheReplay(Driver):
    """A page with an entry before the gate is taken with those behind it, too."""

    class ledger_type(Ledger):  # noqa: N801
        def _before_gate(self, page: Page) -> tuple[Entry, ...]:
            return self._pages.entries(page) if super()._before_gate(page) else ()


class VoidsAreNotRevived(Driver):
    """What compaction left of an event in a void record is given up with it."""

    def _read(self, winners: Winners | None = None) -> Folded | None:
        folded = super()._read(winners)
        return folded and replace(folded, orphans={})


class GapIsIdle(Driver):
    """The slow lane takes waiting pages between any two batches."""

    def _is_idle(self) -> bool:
        return self.batch is None or super()._is_idle()


class SlowRoundFolds(Driver):
    """A slow round brings the ledger up to date from the topic, with half of the batch that is under way."""

    def can_take(self) -> bool:
        if self.free:
            for position, entry in fold(self.world.read({})).entries.items():
                if self.ledger.get(position) is None:
                    self.ledger._pages.put(entry)
        return super().can_take()


class MainTopicsMix(Driver):
    """A page's outputs and error events of one batch are on their way side by side."""

    class main_lane_type(MainLane):  # noqa: N801
        def may_emit(self, page: Page, destination: Destination) -> bool:
            return True


class SlowTopicsMix(Driver):
    """The same in the slow lane."""

    class slow_lane_type(SlowLane):  # noqa: N801
        def may_emit(self, page: Page, destination: Destination) -> bool:
            return True


class AllThatIsReadIsTheBatchs(Driver):
    """Step 4 applies whatever was written since the last fold: an operator's record counts as a row deferred."""

    def _batch_done(self, snapshot: Snapshot, folded: Folded, number: int) -> list[Position]:
        return self.ledger.batch_done(snapshot, folded.entries.values())


class ZombiesCount(Driver):
    """No record is void."""

    def _read(self, winners: Winners | None = None) -> Folded | None:
        folded = super()._read(winners)
        if folded is None:
            return None
        everything = [item for item in self.world.read({}) if not isinstance(item, EpochMarker)]
        entries = fold(everything).entries
        for position, entry in entries.items():
            if self.phase == "running" and self.ledger.get(position) is None and not self._is_new(position):
                self.ledger._pages.put(entry)
        return Folded(
            entries if self.phase != "running" else folded.entries,
            folded.epoch,
            [],
            frozenset(),
            {},
            folded.commands,
            folded.markers,
            {item.entry.position: item.batch for item in everything if isinstance(item, EntryItem)},
        )

    def _is_new(self, position: Position) -> bool:
        return self.batch is not None and position in self.batch.positions()


class NothingIsRepaired(Driver):
    """A void record stays the last of its key. That of an older epoch does no harm, as a start revives it; that of an
    attempt that has lost is an entry to the next driver.
    """

    def _repair(self, voids: Iterable[Position] = (), lost: Set[Position] = frozenset()) -> list[Write]:
        return []


class BusyPagesAreRepaired(Driver):
    """The record that mends a key races with the tombstone of the lane that has its page."""

    class ledger_type(Ledger):  # noqa: N801
        def repairs(
            self,
            voids: Iterable[Position] = (),
            lost: Set[Position] = frozenset(),
        ) -> list[tuple[Position, Entry | None]]:
            return [(position, self.get(position)) for position in voids]


class VoidsAreBuried(Driver):
    """A tombstone is written over a void record of an event that may still be deferred."""

    class ledger_type(Ledger):  # noqa: N801
        def _is_known(self, position: Position) -> bool:
            return True


class GivenUpDriverCommits(Driver):
    """A driver that was replaced does not look for the marker of the other."""

    def _check_epoch(self, folded: Folded) -> None:
        pass


class GateBeforeTheMarker(Driver):
    """Whether a batch will be replayed is read before the epoch's markers are written, while another driver lives."""

    def _start(self) -> list[Write]:
        self.early = super()._replay()
        return super()._start()

    def _replay(self) -> Mapping[SourcePartition, int] | None:
        return self.early


class MarkersShareAKey(Driver):
    """Two processes that take the same epoch, the first of which ends as it starts, write the same markers."""

    def _start(self) -> list[Write]:
        return self.world.send(self.world.markers(self.epoch, process=0))


class BatchForgetsWhatItDeferred(Driver):
    """A later event of a page runs, though an earlier one was deferred in the same batch."""

    class main_lane_type(MainLane):  # noqa: N801
        def hold_page(self, page: Page) -> None:
            pass


class SlowPageGoesOn(Driver):
    """A slow round goes on with a page after one of its entries has failed."""

    class slow_lane_type(SlowLane):  # noqa: N801
        def admit(self, page: Page) -> str:
            return "run"


class CommandsReachBusyPages(Driver):
    """An operator's record is written while a lane resolves the entry."""

    class ledger_type(Ledger):  # noqa: N801
        def busy(self, position: Position) -> bool:
            return False


class ForgetBeforeAck(Driver):
    """A page is released while the tombstones of its entries are still on their way."""

    def can_finish(self, working: Working) -> bool:
        emitted = [write for write in working.writes if write.kind == "emission"]
        return self.free and working.last is None and all(write.landed for write in emitted)


class SettleBeforeAck(Driver):
    """A batch is settled, and commits, while its records are still on their way."""

    def can_settle(self) -> bool:
        batch = self.batch
        return self.free and batch is not None and batch.snapshot is not None and not batch.settled


class OutagesCostTries(Driver):
    """What failed before an outage was known of stays counted."""

    def _give_back(self, positions: Iterable[Position]) -> list[Write]:
        return []


class OpenWikisAreTried(Driver):
    """Either lane gets what it would get if no wiki were known to be down."""

    def _unhealthy(self) -> frozenset[str]:
        return frozenset()


class ProducerGivesUp(Driver):
    """The producer gives up on a record before its process ends, and sends the later ones of the page."""

    gives_up = True


class LosersCount(Driver):
    """What an attempt wrote that Spark has given up counts as the batch's."""

    def _winners(self, batch: Batch | None = None) -> Winners | None:
        return None


class RoundsDefer(Driver):
    """A slow round's task writes an entry again by itself, and not the driver at its end."""

    def _process(self, working: Working) -> None:
        super()._process(working)
        working.writes += self.world.send(self._entry(entry) for entry in working.rewritten)


class RestsForADay(Driver):
    """An entry rests until the time that was written, whatever the clock says since."""

    class ledger_type(Ledger):  # noqa: N801
        def __init__(self, entries: Iterable[Entry], **given: Any) -> None:
            super().__init__(entries, **given | {"longest_rest_ms": 2**63})
