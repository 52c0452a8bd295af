"""A driver of the protocol in the model's world: steps 1 to 7, each in the smallest pieces that can be interrupted.

All decisions are those of the real ledger, fold, lanes and wire format. Methods are separate where a mutant replaces
one. What happens under the lock is a chain of writes, each awaited: what is still to land, and what then comes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import ClassVar, Literal

from pipeline.deferral.entry import Entry, order
from pipeline.deferral.fold import FencedError, Folded, Winners, check_epoch, fold
from pipeline.deferral.lane import Destination, MainLane, SlowLane
from pipeline.deferral.ledger import Ledger, Round, Snapshot
from pipeline.deferral.wire import Command, command_done, to_record, tombstone
from pipeline.records.record import Position, SourcePartition
from tests.unit.pipeline.deferral.known_outages import KnownOutages
from tests.unit.pipeline.deferral.lost_attempts import LostAttempts
from tests.unit.pipeline.deferral.settings import LONGEST_REST_MS, POLICY, Settings
from tests.unit.pipeline.deferral.under_way import Batch, Working
from tests.unit.pipeline.deferral.world import (
    TOPIC,
    Chooser,
    D,
    Outcome,
    Violation,
    World,
    Write,
    wiki_of,
)

Phase = Literal["marking", "folding", "running", "dead"]


class Driver:
    ledger_type: type[Ledger] = Ledger
    main_lane_type: type[MainLane] = MainLane
    slow_lane_type: type[SlowLane] = SlowLane
    gives_up: ClassVar[bool] = False

    def __init__(self, world: World, settings: Settings) -> None:
        self.world, self.settings = world, settings
        world.drivers += 1
        self.epoch = world.folded().epoch + 1
        self.phase: Phase = "marking"
        self.batch: Batch | None = None
        self.rounds: list[Working] = []
        self.idle = False
        self.commands: dict[str, Command] = {}
        self.outages = KnownOutages()
        self.lost = LostAttempts(world, self.epoch)
        self._chain: list[Callable[[], list[Write]]] = []
        self._awaited = self._start()

    # --- step 1

    def _start(self) -> list[Write]:
        return self.world.send(self.world.markers(self.epoch, process=self.world.drivers))

    def can_fold(self) -> bool:
        return self.phase == "marking" and all(write.landed for write in self._awaited)

    def fold(self) -> None:
        self.cursor: dict[int, int] = {}
        self.markers: dict[int, int] = {}
        folded = self._read()
        if folded is None:
            return
        self.ledger = self.ledger_type(
            folded.deferred.values(),
            max_entries=self.settings.max_entries,
            max_bytes=10**9,
            replay=self._replay(),
            longest_rest_ms=LONGEST_REST_MS,
        )
        self.next_batch = self.world.commits
        self.ledger.committed(self.world.committed_ends())
        self.known_batches = len(self.world.offset_log)
        self.phase = "running"
        self._lock(lambda: self._repair(folded.voids, folded.lost), lambda: self._obey(folded.commands))

    def _replay(self) -> Mapping[SourcePartition, int] | None:
        """Where the batch begins that is planned and not committed."""
        log, commits = self.world.offset_log, self.world.commits
        if len(log) <= commits:
            return None
        before = log[commits - 1] if commits else dict.fromkeys(self.world.source, 0)
        return {SourcePartition(TOPIC, part): offset for part, offset in before.items()}

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
        return self.ledger.must_wait or self.ledger.exceeds(self.settings.deferred_share, self.outages.open)

    def plan(self) -> None:
        assert self.batch
        snapshot = self.ledger.plan(
            limit_entries=self.settings.reservations,
            limit_bytes=10**9,
            now_ms=self.world.now_ms,
            unhealthy=self._unhealthy(),
        )
        self.outages.check_untried(snapshot.reserved)
        held = {page for working in self.rounds for page, _entries in working.taken.pages}
        if held & {entry.page for entry in snapshot.reserved}:
            raise Violation("P5: a page is reserved that the slow lane holds")
        self.batch.snapshot = snapshot
        self._run(self.batch, snapshot)

    def _run(self, batch: Batch, snapshot: Snapshot) -> None:
        batch.task = self.world.attempt()
        batch.found, batch.tries = set(), {}
        batch.writes = self.world.send(self._tasks(batch, snapshot))

    def can_lose_worker(self) -> bool:
        batch = self.batch
        return self.phase == "running" and batch is not None and batch.snapshot is not None and not batch.settled

    def lose_worker(self) -> None:
        """Spark takes the batch's executor for lost, and runs its task again elsewhere. The old one may live on."""
        assert self.batch
        assert self.batch.snapshot
        self.lost.give_up_on(self.batch.writes)
        self._run(self.batch, self.batch.snapshot)

    def _unhealthy(self) -> frozenset[str]:
        return frozenset(self.outages.open)

    def _tasks(self, batch: Batch, snapshot: Snapshot) -> list[Write]:
        """What the tasks of the batch write. They have the fence, the rows, and nothing else."""
        lane = self.main_lane_type(snapshot.fence)
        reserved = {entry.position: entry for entry in snapshot.reserved}
        positions = sorted({*reserved, *(event.position for event in batch.rows)}, key=order)
        early = {p: lane.admit(p, self.world.event(p).page) for p in positions}
        writes = []
        for position in positions:
            write = self._task(lane, position, reserved.get(position), batch)
            if early[position] != "run" and write is not None and isinstance(write.payload[0], Position):
                raise Violation(f"{position} is emitted, though it was not to be run")
            writes += [write] if write else []
        return writes

    def _task(self, lane: MainLane, position: Position, entry: Entry | None, batch: Batch) -> Write | None:
        event = self.world.event(position)
        page = event.page
        value = entry.value if entry else event.value
        match lane.admit(position, page):
            case "drop":
                return None
            case "run":
                if event.filtered:
                    return None
                dropped, wiki_id = lane.reservation(position).dropped, wiki_of(page)
                assert self.batch
                assert self.batch.snapshot
                if wiki_id in self.batch.snapshot.unhealthy and not dropped:
                    put = lane.defer(position, key=page[2], value=value, appended_us=7, reason="open", wiki_id=wiki_id)
                    return self._entry(put, batch)
                is_down = wiki_id in self.world.down
                if is_down and not dropped:
                    self.batch.found.add(wiki_id)
                    self.batch.tries[position] = lane.reservation(position).attempt
                outcome = "final" if dropped else "slow" if is_down else self.world.outcomes(position)
                if outcome == "slow":
                    put = lane.defer(
                        position, key=page[2], value=value, appended_us=7, reason="slow", wiki_id=wiki_id, is_tried=True
                    )
                    return self._entry(put, batch)
                if lane.may_emit(page, destination := _destination(outcome)):
                    self._check_block(position)
                    return self._emission(position, destination, batch.task)
            case "hold":
                pass
        return self._entry(lane.defer(position, key=page[2], value=value, appended_us=7), batch)

    def _check_block(self, position: Position) -> None:
        assert self.batch
        assert self.batch.snapshot
        blocked = self.batch.snapshot.blocked.get(self.world.event(position).page)
        if blocked and order(position) >= order(blocked):
            raise Violation(f"P5: {position} is emitted at or above the block of its page")

    def _emission(self, position: Position, to: Destination, task: int) -> Write:
        """A page's records for one topic come from one producer, which keeps their order; nothing else does."""
        return Write((task, self.world.event(position).page, to), (position, to))

    def _entry(self, entry: Entry, batch: Batch | None = None) -> Write:
        number, task = (batch.number, batch.task) if batch else (None, None)
        return self.world.to_ledger(to_record(entry, topic=D, epoch=self.epoch, batch=number, task=task))

    # --- step 4

    def can_settle(self) -> bool:
        batch = self.batch
        if not self.free or batch is None or batch.snapshot is None or batch.settled:
            return False
        return all(write.landed for write in batch.writes)

    def settle(self) -> None:
        assert self.batch
        assert self.batch.snapshot
        self.lost.ended[self.batch.number] = self.batch.task
        folded = self._read(self._winners(self.batch))
        if folded is None:
            return
        batch, snapshot = self.batch, self.batch.snapshot
        resolved = self._batch_done(snapshot, folded, batch.number)
        batch.settled = True
        self.outages.found(batch.found)
        own = [entry for entry in folded.written_by(batch.number) if entry.position not in snapshot.unreserved]
        self._lock(
            lambda: self._tombstones(resolved),
            lambda: self._forget(resolved),
            lambda: self._give_back(self.outages.lost_tries.by(batch.found, own)),
            lambda: self._check_tries(batch),
            lambda: self._repair(folded.voids, folded.lost),
            lambda: self._obey(folded.commands),
        )

    def _give_back(self, positions: Iterable[Position]) -> list[Write]:
        return self.world.send(self._entry(entry) for entry in self.ledger.give_back_tries(positions))

    def _check_tries(self, batch: Batch) -> list[Write]:
        self.outages.check_tries(self.ledger, batch.tries)
        return []

    def can_probe(self) -> bool:
        return self.phase == "running" and bool(self.outages.open - self.world.down)

    def probe(self) -> None:
        """Those that are healthy again answer."""
        self.outages.open &= self.world.down

    def _winners(self, batch: Batch | None = None) -> Winners | None:
        return Winners(self.epoch, batch.number, {batch.task}) if batch else Winners(self.epoch)

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
        self.next_batch, self.batch = self.next_batch + 1, None
        self.ledger.committed(self.world.committed_ends())
        self._lock(self._repair)

    # --- step 5

    def can_take(self) -> bool:
        if not self.free or len(self.rounds) >= self.settings.rounds:
            return False
        taken = self._taken(1)
        if taken is not None:
            self.ledger.release(taken)
        return taken is not None

    def take(self, *, pages: int) -> bool:
        taken = self._taken(pages)
        if taken is None:
            return False
        other = {page for working in self.rounds for page, _entries in working.taken.pages}
        if self.batch and self.batch.snapshot and not self.batch.settled:
            other |= {entry.page for entry in self.batch.snapshot.reserved}
        if other & {page for page, _entries in taken.pages}:
            raise Violation("P5: a page is taken that another lane has")
        self.outages.check_untried(taken.entries)
        working = Working(taken, outages=self.outages.number)
        self._process(working)
        self.rounds.append(working)
        return True

    def _taken(self, pages: int) -> Round | None:
        return self.ledger.take(
            now_ms=self.world.now_ms,
            max_pages=pages,
            max_entries=self.settings.round_entries,
            idle=self._is_idle(),
            unhealthy=self._unhealthy(),
        )

    def can_be_quiet(self) -> bool:
        return self.free and self.batch is None and not self.can_begin()

    def be_quiet(self) -> None:
        self.idle = True  # no batch was planned for longer than a trigger or two

    def _is_idle(self) -> bool:
        waits = self.batch is not None and self.batch.snapshot is None and self._must_wait()
        return waits or (self.idle and self.batch is None)

    def _process(self, working: Working) -> None:
        lane, task = self.slow_lane_type(POLICY), self.world.attempt()
        rewritten: list[Entry] = []
        emissions: list[Write] = []
        tombstones: dict[Position, Write] = {}
        sent: list[Write] = []
        for page, entries in working.taken.pages:
            for entry in entries:
                event = self.world.event(entry.position)
                if lane.admit(page) == "skip":
                    continue
                gone = self.world.to_ledger(tombstone(entry.position, topic=D, epoch=self.epoch))
                if event.filtered:
                    tombstones[entry.position] = gone
                    sent.append(gone)
                    continue
                wiki_id = wiki_of(page)
                if entry.dropped:
                    outcome: Outcome = "final"
                else:
                    outcome = "slow" if wiki_id in self.world.down else self.world.outcomes(entry.position)
                if outcome == "slow":
                    tried = replace(entry, wiki_id=wiki_id)
                    again = lane.failed(tried, now_ms=self.world.now_ms, reason="slow again")
                    if again is not None:
                        rewritten.append(again)
                        continue
                if lane.may_emit(page, destination := _destination(outcome)):
                    tombstones[entry.position] = gone
                    emissions.append(self._emission(entry.position, destination, task))
                    sent += self._resolved_by(emissions[-1], gone)
        working.rewritten, working.tombstones = rewritten, tombstones
        working.writes = [*emissions, *tombstones.values()]
        self.world.send(sent)

    def _resolved_by(self, emission: Write, gone: Write) -> list[Write]:
        """What is sent at once."""
        emission.then = gone
        return [emission]

    def can_lose_round(self, working: Working) -> bool:
        return self.phase == "running" and working.last is None

    def lose_round(self, working: Working) -> None:
        """As for a batch. What it resolves is out, however late the tombstone comes."""
        self.lost.give_up_on([write for write in working.writes if write.kind == "emission"])
        self.world.resolved_by_lost.update(working.tombstones)
        self._process(working)

    def can_finish(self, working: Working) -> bool:
        return self.free and working.last is None and all(write.landed for write in working.writes)

    def finish(self, working: Working) -> None:
        self.ledger.round_done(working.taken, resolved=working.resolved, rewritten=working.rewritten)
        working.last = self.world.send(self._entry(entry) for entry in working.rewritten)

    def can_release(self, working: Working) -> bool:
        return self.free and working.last is not None and all(write.landed for write in working.last)

    def release(self, working: Working) -> None:
        self.ledger.forget(working.resolved)
        self.ledger.release(working.taken)
        self.rounds.remove(working)
        met = self.outages.in_round(working.rewritten, working.outages)
        self._lock(lambda: self._give_back(met), self._repair, self._obey)

    # --- what operators want, and what zombies did, while no batch is under way

    def can_look(self) -> bool:
        return self.free and (self.batch is None or self.batch.snapshot is None)

    def look(self) -> None:
        folded = self._read(self._winners())
        if folded is not None:
            self._lock(lambda: self._repair(folded.voids, folded.lost), lambda: self._obey(folded.commands))

    # --- crash

    def die(self) -> None:
        """The process is gone. What it sent is on its way still, and may arrive at any time, or never."""
        if self.phase == "dead":
            return
        self.phase = "dead"
        # A record of the ledger that comes very late may be all that is left of an event, and revives it.
        self.world.at_risk.update(self.world.positions_of(self._awaited))
        self.world.at_risk.update(self.lost.haunted())
        at_risk = self.batch.positions() if self.batch else set()
        for working in self.rounds:
            done = {position for position, write in working.tombstones.items() if write.landed}
            at_risk |= {entry.position for entry in working.taken.entries} - done
        self.world.at_risk.update(at_risk)

    def entries(self) -> list[Entry]:
        return self.ledger.listing() if self.phase == "running" else []

    def at_rest(self) -> bool:
        """Whether all that was written is acked and applied."""
        between = self.batch is None or self.batch.snapshot is None or self.batch.settled
        return self.free and between and not self.rounds

    def pending(self) -> list[Write]:
        """What this driver has sent and still waits for."""
        mine = [*self._awaited, *(self.batch.writes if self.batch else [])]
        mine += [write for working in self.rounds for write in [*working.writes, *(working.last or [])]]
        return [write for write in mine if not write.landed]

    # --- reading and writing the ledger's topic

    def _read(self, winners: Winners | None = None) -> Folded | None:
        """Fold what is new; None when another driver has started, at which this one ends."""
        folded = fold(self.world.read(self.cursor), markers=self.markers, winners=winners)
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

    def _repair(self, voids: Iterable[Position] = (), lost: Set[Position] = frozenset()) -> list[Write]:
        writes: list[Write] = []
        for position, entry in self.ledger.repairs(voids, lost):
            writes += self.world.send([self._entry(entry)]) if entry else self._tombstones([position])
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
        return self.world.send(self._entry(entry) for entry in changes.values())

    def _done(self, commands: Iterable[Command]) -> list[Write]:
        return self.world.send(
            self.world.to_ledger(command_done(command.id, topic=D, epoch=self.epoch), command.place.partition)
            for command in commands
        )


def _destination(outcome: Outcome) -> Destination:
    return "output" if outcome == "ok" else "error"
