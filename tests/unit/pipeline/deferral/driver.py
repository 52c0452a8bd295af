"""A driver of the protocol in the model's world: steps 1 to 7, each in the smallest pieces that can be interrupted.

All decisions are those of the real ledger, fold, lanes and wire format. Methods are separate where a mutant replaces
one. What happens under the lock is a chain of writes, each awaited: `_locked` holds what is still to land and what
then comes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pipeline.deferral.entry import Entry, order
from pipeline.deferral.fold import FencedError, Folded, check_epoch, fold
from pipeline.deferral.lane import Destination, MainLane, Policy, SlowLane
from pipeline.deferral.ledger import Ledger, Round, Snapshot
from pipeline.deferral.wire import Command, command_done, epoch_marker, to_record, tombstone
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.world import (
    D_PARTITIONS,
    Chooser,
    D,
    Event,
    Outcome,
    Violation,
    World,
    Write,
)

Phase = Literal["marking", "folding", "running", "dead"]
POLICY = Policy(inline_allowance_s=1, slow_deadline_s=10, total_attempts=3, backoff_base_s=1, backoff_cap_s=4)


@dataclass(frozen=True)
class Settings:
    max_entries: int = 4
    reservations: int = 3
    max_offsets: int = 4
    rounds: int = 2


@dataclass
class Batch:
    """From the moment Spark has written its offsets; `snapshot` is there once the ledger was asked."""

    number: int
    rows: list[Event]
    snapshot: Snapshot | None = None
    writes: list[Write] = field(default_factory=list)
    settled: bool = False

    def positions(self) -> set[Position]:
        reserved = [entry.position for entry in self.snapshot.reserved] if self.snapshot else []
        return {event.position for event in self.rows} | set(reserved)


@dataclass(eq=False)
class Working:
    """A slow round under way, with what it does to its entries."""

    taken: Round
    resolved: list[Position]
    rewritten: list[Entry]
    writes: list[Write]
    tombstones: list[Write] | None = None


class Driver:
    ledger_type: type[Ledger] = Ledger
    main_lane_type: type[MainLane] = MainLane
    slow_lane_type: type[SlowLane] = SlowLane

    def __init__(self, world: World, settings: Settings) -> None:
        self.world, self.settings = world, settings
        world.drivers += 1
        self.epoch = world.folded().epoch + 1
        self.phase: Phase = "marking"
        self.batch: Batch | None = None
        self.rounds: list[Working] = []
        self.idle = False
        self.commands: dict[str, Command] = {}
        self._chain: list[Callable[[], list[Write]]] = []
        self._awaited = self._start()

    # --- step 1

    def _start(self) -> list[Write]:
        marker = epoch_marker(self.epoch, topic=D)
        return self.world.send(self.world.to_ledger(marker, partition) for partition in D_PARTITIONS)

    def can_fold(self) -> bool:
        return self.phase == "marking" and all(write.landed for write in self._awaited)

    def fold(self) -> None:
        self.cursor: dict[int, int] = {}
        self.markers: dict[int, int] = {}
        folded = self._read()
        if folded is None:
            return
        self.ledger = self.ledger_type(
            folded.entries.values(),
            max_entries=self.settings.max_entries,
            max_bytes=10**9,
            replaying=self._replaying(),
        )
        self.next_batch = self.world.commits
        self.known_batches = len(self.world.offset_log)
        self.phase = "running"
        self._lock(lambda: self._repair(folded.voids), lambda: self._obey(folded.commands))

    def _replaying(self) -> bool:
        return len(self.world.offset_log) > self.world.commits

    # --- the lock: what is written and awaited while nobody else touches the ledger

    @property
    def locked(self) -> bool:
        return bool(self._awaited or self._chain)

    def can_go_on(self) -> bool:
        return self.phase == "running" and self.locked and all(write.landed for write in self._awaited)

    def go_on(self) -> None:
        self._awaited = []
        while self._chain and not self._awaited:
            self._awaited = self._chain.pop(0)()

    def _lock(self, *steps: Callable[[], list[Write]]) -> None:
        self._awaited, self._chain = [], list(steps)
        self.go_on()

    @property
    def free(self) -> bool:
        return self.phase == "running" and not self.locked

    # --- steps 2 and 3

    def can_begin(self) -> bool:
        replay = self.phase == "running" and self.next_batch < self.known_batches
        return self.free and self.batch is None and (replay or self.world.unread())

    def begin(self, chooser: Chooser) -> None:
        """Spark writes the offsets of the next batch, or takes those of the batch it has to replay."""
        number, log = self.next_batch, self.world.offset_log
        if number >= self.known_batches:
            if len(log) > number:
                self.die()
                return
            before = log[-1] if log else dict.fromkeys(self.world.source, 0)
            ahead = {part: len(events) - before[part] for part, events in self.world.source.items()}
            take = {part: chooser.pick(range(min(n, self.settings.max_offsets), -1, -1)) for part, n in ahead.items()}
            if not any(take.values()):
                take = {part: min(n, self.settings.max_offsets) for part, n in ahead.items()}
            log.append({part: before[part] + take[part] for part in before})
            self.known_batches = len(log)
        self.batch = Batch(number, self.world.rows(number))
        self.idle = False

    def can_plan(self) -> bool:
        return self.free and self.batch is not None and self.batch.snapshot is None and not self._must_wait()

    def _must_wait(self) -> bool:
        return self.ledger.must_wait

    def plan(self) -> None:
        assert self.batch
        snapshot = self.ledger.plan(
            limit_entries=self.settings.reservations, limit_bytes=10**9, now_ms=self.world.now_ms
        )
        held = {page for working in self.rounds for page, _entries in working.taken.pages}
        if held & {entry.page for entry in snapshot.reserved}:
            raise Violation("P5: a page is reserved that the slow lane holds")
        self.batch.snapshot = snapshot
        self.batch.writes = self.world.send(self._tasks(self.batch, snapshot))

    def _tasks(self, batch: Batch, snapshot: Snapshot) -> list[Write]:
        """What the tasks of the batch write. They have the fence, the rows, and nothing else."""
        lane = self.main_lane_type(snapshot.fence)
        reserved = {entry.position: entry for entry in snapshot.reserved}
        positions = sorted({*reserved, *(event.position for event in batch.rows)}, key=order)
        early = {p: lane.admit(p, self.world.event(p).page) for p in positions}
        writes = []
        for position in positions:
            write = self._task(lane, position, reserved.get(position), batch.number)
            if early[position] != "run" and write is not None and isinstance(write.payload[0], Position):
                raise Violation(f"{position} is emitted, though it was not to be run")
            writes += [write] if write else []
        return writes

    def _task(self, lane: MainLane, position: Position, entry: Entry | None, number: int) -> Write | None:
        event = self.world.event(position)
        page = event.page
        value = entry.value if entry else event.value
        match lane.admit(position, page):
            case "drop":
                return None
            case "run":
                if event.filtered:
                    return None
                outcome = "final" if lane.reservation(position).dropped else self.world.outcomes(position)
                if outcome == "slow":
                    put = lane.stick(position, key=page[2], value=value, appended_us=7, reason="slow")
                    return self._entry(put, number)
                if lane.may_emit(page, destination := _destination(outcome)):
                    self._check_block(position)
                    return self._emission(position, destination, ("batch", number))
            case "hold":
                pass
        return self._entry(lane.hold(position, key=page[2], value=value, appended_us=7), number)

    def _check_block(self, position: Position) -> None:
        assert self.batch
        assert self.batch.snapshot
        blocked = self.batch.snapshot.blocked.get(self.world.event(position).page)
        if blocked and order(position) >= order(blocked):
            raise Violation(f"P5: {position} is emitted at or above the block of its page")

    def _emission(self, position: Position, to: Destination, by: tuple[str, int]) -> Write:
        """A page's records for one topic come from one producer, which keeps their order; nothing else does."""
        return Write((self.epoch, by, self.world.event(position).page, to), (position, to))

    def _entry(self, entry: Entry, batch: int | None) -> Write:
        return self.world.to_ledger(to_record(entry, topic=D, epoch=self.epoch, batch=batch))

    # --- step 4

    def can_settle(self) -> bool:
        batch = self.batch
        if not self.free or batch is None or batch.snapshot is None or batch.settled:
            return False
        return all(write.landed for write in batch.writes)

    def settle(self) -> None:
        assert self.batch
        assert self.batch.snapshot
        folded = self._read()
        if folded is None:
            return
        resolved = self._batch_done(self.batch.snapshot, folded, self.batch.number)
        self.batch.settled = True
        self._lock(
            lambda: self._tombstones(resolved),
            lambda: self._forget(resolved),
            lambda: self._repair(folded.voids),
            lambda: self._obey(folded.commands),
        )

    def _batch_done(self, snapshot: Snapshot, folded: Folded, number: int) -> list[Position]:
        return self.ledger.batch_done(snapshot, folded.written_by(number))

    def can_commit(self) -> bool:
        return self.free and self.batch is not None and self.batch.settled

    def commit(self) -> None:
        """Spark writes its commit log, and fails when another process wrote the same entry."""
        assert self.batch
        if self.world.commits != self.batch.number:
            self.die()
            return
        self.world.commit()
        self.next_batch += 1
        self.batch = None

    # --- step 5

    def can_take(self) -> bool:
        if not self.free or len(self.rounds) >= self.settings.rounds:
            return False
        taken = self.ledger.take(now_ms=self.world.now_ms, max_pages=1, idle=self._is_idle())
        if taken is not None:
            self.ledger.release(taken)
        return taken is not None

    def take(self, *, pages: int) -> bool:
        taken = self.ledger.take(now_ms=self.world.now_ms, max_pages=pages, idle=self._is_idle())
        if taken is None:
            return False
        other = {page for working in self.rounds for page, _entries in working.taken.pages}
        if self.batch and self.batch.snapshot and not self.batch.settled:
            other |= {entry.page for entry in self.batch.snapshot.reserved}
        if other & {page for page, _entries in taken.pages}:
            raise Violation("P5: a page is taken that another lane has")
        self.rounds.append(self._work(taken))
        return True

    def can_be_quiet(self) -> bool:
        return self.free and self.batch is None and not self.can_begin()

    def be_quiet(self) -> None:
        """No batch was planned for longer than a trigger or two."""
        self.idle = True

    def _is_idle(self) -> bool:
        waits = self.batch is not None and self.batch.snapshot is None and self._must_wait()
        return waits or (self.idle and self.batch is None)

    def _work(self, taken: Round) -> Working:
        lane = self.slow_lane_type(POLICY)
        resolved: list[Position] = []
        rewritten: list[Entry] = []
        writes: list[Write] = []
        for page, entries in taken.pages:
            for entry in entries:
                event = self.world.event(entry.position)
                if lane.admit(page) == "skip":
                    continue
                if event.filtered:
                    resolved.append(entry.position)
                    continue
                outcome = "final" if entry.dropped else self.world.outcomes(entry.position)
                if outcome == "slow":
                    again = lane.failed(entry, now_ms=self.world.now_ms, reason="slow again")
                    if again is not None:
                        rewritten.append(again)
                        writes.append(self._entry(again, None))
                        continue
                if lane.may_emit(page, destination := _destination(outcome)):
                    resolved.append(entry.position)
                    writes.append(self._emission(entry.position, destination, ("round", taken.number)))
        return Working(taken, resolved, rewritten, self.world.send(writes))

    def can_finish(self, working: Working) -> bool:
        return self.free and working.tombstones is None and all(write.landed for write in working.writes)

    def finish(self, working: Working) -> None:
        positions = self.ledger.round_done(working.taken, resolved=working.resolved, rewritten=working.rewritten)
        working.tombstones = self._tombstones(positions)

    def can_release(self, working: Working) -> bool:
        return self.free and working.tombstones is not None and all(write.landed for write in working.tombstones)

    def release(self, working: Working) -> None:
        self.ledger.forget(working.resolved)
        self.ledger.release(working.taken)
        self.rounds.remove(working)
        self._lock(self._repair, self._obey)

    # --- what operators want, and what zombies did, while no batch is under way

    def can_look(self) -> bool:
        return self.free and (self.batch is None or self.batch.snapshot is None)

    def look(self) -> None:
        folded = self._read()
        if folded is not None:
            self._lock(lambda: self._repair(folded.voids), lambda: self._obey(folded.commands))

    # --- crash

    def die(self) -> None:
        """The process is gone. What it sent is on its way still, and may arrive at any time, or never."""
        if self.phase == "dead":
            return
        self.phase = "dead"
        at_risk = self.batch.positions() if self.batch else set()
        at_risk |= {entry.position for working in self.rounds for entry in working.taken.entries}
        self.world.at_risk.update(at_risk)

    def entries(self) -> list[Entry]:
        return self.ledger.listing() if self.phase == "running" else []

    def at_rest(self) -> bool:
        """Whether all that was written is acked and applied."""
        batch = self.batch
        between = batch is None or batch.snapshot is None or batch.settled
        return self.free and between and not self.rounds

    def pending(self) -> list[Write]:
        """What this driver has sent and still waits for."""
        mine = [*self._awaited, *(self.batch.writes if self.batch else [])]
        for working in self.rounds:
            mine += [*working.writes, *(working.tombstones or [])]
        return [write for write in mine if not write.landed]

    # --- reading and writing the ledger's topic

    def _read(self) -> Folded | None:
        """Fold what is new; None when another driver has started, at which this one ends."""
        folded = fold(self.world.read(self.cursor), markers=self.markers)
        self.cursor, self.markers = dict(self.world.ends), folded.markers
        try:
            self._check_epoch(folded)
        except FencedError:
            self.die()
            return None
        return folded

    def _check_epoch(self, folded: Folded) -> None:
        check_epoch(folded, own=self.epoch)

    def _tombstones(self, positions: Iterable[Position]) -> list[Write]:
        return self.world.send(self.world.to_ledger(tombstone(p, topic=D, epoch=self.epoch)) for p in positions)

    def _forget(self, positions: Sequence[Position]) -> list[Write]:
        self.ledger.forget(positions)
        return []

    def _repair(self, voids: Iterable[Position] = ()) -> list[Write]:
        writes: list[Write] = []
        for position, entry in self.ledger.repairs(voids):
            writes += self.world.send([self._entry(entry, None)]) if entry else self._tombstones([position])
        return writes

    def _obey(self, commands: Iterable[Command] = ()) -> list[Write]:
        """All that can be carried out: first the effects, one write for a position, then that they are done."""
        self.commands |= {command.id: command for command in commands}
        ready = [command for command in self.commands.values() if not self.ledger.busy(command.position)]
        changes: dict[Position, Entry] = {}
        for command in ready:
            del self.commands[command.id]
            changed = self.ledger.command(command.position, command.action)
            if changed is not None:
                changes[command.position] = changed
        self._chain.append(lambda: self._done(ready))
        return self.world.send(self._entry(entry, None) for entry in changes.values())

    def _done(self, commands: Iterable[Command]) -> list[Write]:
        return self.world.send(
            self.world.to_ledger(command_done(command.id, topic=D, epoch=self.epoch), command.place.partition)
            for command in commands
        )


def _destination(outcome: Outcome) -> Destination:
    return "output" if outcome == "ok" else "error"
