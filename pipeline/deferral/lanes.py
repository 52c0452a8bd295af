"""The driver's side of deferral: plans batches around the ledger, and processes deferred events in a slow lane.

    start    epoch marker, fold ─▶ ledger
    batch    plan (waits above the bound, while the endpoint is open, and while wikis are that have too much deferred)
             ─▶ … ─▶ written: fold what the batch wrote, tombstone what it resolved, give back tries that met an outage
    slow     take ─▶ a Spark batch job, which tombstones what it resolves as it goes ─▶ the rest again ─▶ release, give
             back tries
    operator commands, which stand in the ledger's topic too, as soon as no lane is at the page

Every step that touches the ledger holds one lock. What fails in the slow lane is kept for `check`, which ends the
process: the ledger is folded again by the next. Threads are daemons, so that a round under way does not hold it.
"""

import functools
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Protocol

from located_config.share import format_share
from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Entry, Fact, Resolved, entries_after
from pipeline.deferral.ledger import Ledger
from pipeline.deferral.ledger_log import ANY, LedgerLog
from pipeline.deferral.ledger_start import LedgerMark, LedgerStart
from pipeline.deferral.outages import NAMED_WIKIS, BreakerStatus, LostTries, Outages, Prober
from pipeline.deferral.snapshot import Round, Snapshot
from pipeline.deferral.topic import LedgerTopic
from pipeline.deferral.wire import Command
from pipeline.errors import PipelineError, failure
from pipeline.events import CommandCarriedOut, DeferralStatus, GaveUp, Resumed, SlowRound, Waiting
from pipeline.fetch.breaker import Answer, Opened
from pipeline.fetch.probe import probe
from pipeline.fetch.route import Ask
from pipeline.fetch.wiki_hosts import WikiHosts
from pipeline.records.record import Position, SourcePartition

_LOOK_S = 0.1
_IDLE_S = 1.0
_COMMANDS_S = 1.0


class Rounds(Protocol):
    """Runs slow rounds; see `pipeline.deferral.rounds`."""

    def run(self, entries: Sequence[Entry], *, epoch: int) -> list[Fact]:
        """Returns what became of the entries, when all of it is acknowledged, and tombstoned under the epoch."""


class Lanes:
    """`start`, then `plan` and `written` around each batch; `check` often; `stop` once."""

    def __init__(
        self,
        config: PipelineConfig,
        topic: LedgerTopic,
        rounds: Rounds,
        *,
        replay: Callable[[], Mapping[SourcePartition, int] | None],
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        probe: Callable[[PipelineConfig, WikiHosts, str, Ask, Callable[[], bool]], Answer | None] = probe,
    ) -> None:
        """`replay` tells at which offsets the planned batch begins that Spark will run again, None when there is none.
        It is asked when the epoch's markers are written, as a driver that still lives may plan a batch until then.
        `clock` counts seconds, `now_ms` is the time of day. `probe` is that of `pipeline.fetch.probe`.
        """
        self._config, self._log, self._rounds = config, LedgerLog(topic), rounds
        self._clock, self._now_ms = clock, now_ms
        self._replay = replay
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._commands: dict[str, Command] = {}
        self._waiting = False
        self._batch_running = False
        self._last_batch = self._last_commands = clock()
        self._logged: tuple[int, int, int] = (0, 0, 0)
        self._error: BaseException | None = None
        self._outages = Outages(config.breaker, clock)
        self._lost_tries = LostTries()
        self._prober = Prober(
            self._outages, functools.partial(probe, config, WikiHosts(config.mediawiki)), self._stopped.is_set
        )
        self._free_rounds = threading.Semaphore(config.deferral.slow_lane.rounds)
        # With a lock of its own: the other one is held while brokers are asked, and a stop does not wait for those.
        self._counting = threading.Lock()
        self._rounds_at_work = 0
        self._idle_s = max(_IDLE_S, 2 * config.batch.trigger.total_seconds())

    @property
    def epoch(self) -> int:
        """The number of this driver's epoch in the ledger's topic; 0 before `take_over`."""
        return self._log.epoch

    @property
    def limit_bytes(self) -> int:
        """How large a record of the ledger's topic may be."""
        return self._log.limit_bytes

    @property
    def status(self) -> tuple[int, int, int]:
        """Entries, bytes and pages of the ledger when a lane was last done with something."""
        return self._logged

    def start(self, ledger: LedgerStart) -> LedgerMark:
        """Take over the ledger, and begin to process it; by what it is known again. Raises PipelineError."""
        self.take_over(ledger)
        for name, step in (("slow-lane", self.look), ("prober", self.probe)):
            threading.Thread(target=self._schedule, args=[step], name=name, daemon=True).start()
        return self._log.mark

    def take_over(self, ledger: LedgerStart = ANY) -> None:
        """Fold the ledger under a new epoch. Raises PipelineError."""
        folded = self._log.begin(ledger)
        bounds = self._config.deferral
        self._ledger = Ledger(
            folded.deferred.values(),
            max_entries=bounds.max_entries,
            max_bytes=bounds.max_bytes,
            replay=self._replay(),
            longest_rest_ms=round(1000 * bounds.slow_lane.backoff_cap.total_seconds()),
        )
        with self._lock:
            self._log.repair(self._ledger.repairs(folded.voids, folded.lost))
            self._run_commands(folded.commands)
            self._log_ledger()

    @property
    def breakers(self) -> BreakerStatus:
        """See `Outages.status`."""
        return self._outages.status

    @property
    def deferred_unhealthy(self) -> int:
        """Number of deferred events of wikis whose breaker is open."""
        return self._ledger.deferred_of(self._outages.open_wikis)[0]

    def plan(self, number: int) -> Snapshot:
        """What the batch must know of the ledger, and of which wikis it asks nothing. Waits first while the endpoint is
        open, while unhealthy wikis have more than their share of the ledger, or while the ledger is over its bound.

        Raises PipelineError when the job is stopped in the wait.
        """
        self._wait_while(self._without_endpoint, number)
        self._wait_while(self._without_share, number)
        self._wait_while(self._without_room, number)
        unhealthy = self._outages.open_wikis
        with self._lock:
            self._batch_running = True
            return self._ledger.plan(
                limit_entries=self._config.batch.max_offsets,
                limit_bytes=self._config.result_buffer,
                now_ms=self._now_ms(),
                unhealthy=unhealthy,
            )

    def written(
        self,
        snapshot: Snapshot,
        number: int,
        tasks: Set[int],
        opened_breakers: Iterable[Opened] = (),
        *,
        deferred: int = 0,
    ) -> None:
        """Bring the ledger up to date with a batch whose records are all acknowledged. Raises PipelineError.

        `tasks` are the attempts by which it ended. `opened_breakers` are the breakers that they opened, and `deferred`
        is the number of events that they deferred.
        """
        # Before the slow lane can take what the batch has deferred.
        unhealthy = self._outages.reported(opened_breakers, snapshot.unhealthy)
        with self._lock:
            folded = self._log.read(number, tasks)
            written = folded.written_by(number)
            if len(written) < deferred:
                raise _incomplete_read(number, deferred, len(written), self._log.mark.topic)
            resolved = self._ledger.batch_done(snapshot, written)
            self._log.resolve(resolved)
            self._ledger.forget(resolved)
            reserved = [entry for entry in written if entry.position not in snapshot.unreserved]
            self._log.put(self._ledger.give_back_tries(self._lost_tries.by(unhealthy, reserved)))
            self._batch_running = False
            self._last_batch = self._clock()
            self._log.repair(self._ledger.repairs(folded.voids, folded.lost))
            self._run_commands(folded.commands)
            self._log_ledger()

    def committed(self, ends: Mapping[SourcePartition, int]) -> None:
        """Spark has committed a batch up to these offsets, the last one or one before it."""
        with self._lock:
            self._ledger.committed(ends)

    def check(self) -> None:
        """Raises PipelineError when the slow lane has failed."""
        if isinstance(self._error, PipelineError):
            raise self._error
        if self._error is not None:
            raise failure("slow lane", str(self._error)) from self._error

    def stop(self) -> None:
        """Begin nothing more. What a round has not resolved when the process ends is for the next one."""
        with self._counting:
            self._stopped.set()

    @property
    def rounds(self) -> int:
        """How many rounds are under way."""
        with self._counting:
            return self._rounds_at_work

    def look(self) -> None:
        """Carry out commands while no batch is at work, and begin rounds with what is due. Raises PipelineError."""
        with self._lock:
            self._look_for_commands()
        while self._free_rounds.acquire(blocking=False):
            with self._lock:
                slow_round = self._take()
            if slow_round is None:
                self._free_rounds.release()
                return
            name = f"slow-round-{slow_round.number}"
            threading.Thread(target=self._round, args=[slow_round], name=name, daemon=True).start()

    def _take(self) -> Round | None:
        if self._outages.endpoint_is_open or not self._may_begin():
            return None
        slow_round = self._ledger.take(
            now_ms=self._now_ms(),
            max_pages=self._config.deferral.slow_lane.pages,
            max_entries=self._config.deferral.slow_lane.entries,
            idle=self._is_idle(),
            unhealthy=self._outages.open_wikis,
        )
        if slow_round is None:
            self._has_ended()
        return slow_round

    def _may_begin(self) -> bool:
        """A round counts from here on: who has stopped the lanes, and is told of none, is right to wait for none."""
        with self._counting:
            self._rounds_at_work += not self._stopped.is_set()
            return not self._stopped.is_set()

    def _has_ended(self) -> None:
        with self._counting:
            self._rounds_at_work -= 1

    def _wait_while(self, blocked: Callable[[], Waiting | None], number: int) -> None:
        """Until nothing blocks the batch; the lane is idle meanwhile."""
        waiting = blocked()
        if waiting is None:
            return
        log.emit(replace(waiting, batch=number))
        self._waiting = True
        try:
            while blocked() is not None:
                self.check()
                if self._stopped.wait(_LOOK_S):
                    raise PipelineError(f"a wait was ended: {waiting.reason}")
        finally:
            self._waiting = False
        log.emit(Resumed(batch=number))

    def _without_endpoint(self) -> Waiting | None:
        if not self._outages.endpoint_is_open:
            return None
        return Waiting(grain="endpoint", reason="breaker of the endpoint open")

    def _without_share(self) -> Waiting | None:
        wikis = self._outages.open_wikis
        share = self._config.breaker.deferred_share
        with self._lock:
            if not self._ledger.exceeds(share, wikis):
                return None
            entries, size = self._ledger.deferred_of(wikis)
        named_wikis = tuple(sorted(wikis)[:NAMED_WIKIS])
        unnamed = len(wikis) - len(named_wikis)
        text = f"breaker open: {', '.join(named_wikis)}{f' and {unnamed} others' if unnamed else ''}"
        text += f"; {entries} deferred events of {size} bytes, more than breaker.deferred_share {format_share(share)}"
        return Waiting(grain="wiki", reason=text, wikis=named_wikis, entries=entries, bytes=size)

    def _without_room(self) -> Waiting | None:
        with self._lock:
            if not self._ledger.must_wait:
                return None
            entries, size = self._ledger.entries, self._ledger.bytes
        bounds = self._config.deferral
        text = f"{entries} deferred events of {size} bytes, bound {bounds.max_entries} and {bounds.max_bytes}"
        return Waiting(reason=text, entries=entries, bytes=size)

    def probe(self) -> None:
        """Ask the wikis that are open and whose time has come. Raises what a probe raises that is no answer."""
        self._prober.look()

    def _schedule(self, step: Callable[[], None]) -> None:
        try:
            while not self._stopped.wait(_LOOK_S):
                step()
        except BaseException as error:  # noqa: BLE001 — `check` raises it in the main thread
            self._fail(error)

    def _round(self, slow_round: Round) -> None:
        try:
            self._work(slow_round)
        except BaseException as error:  # noqa: BLE001 — `check` raises it in the main thread
            self._fail(error)
        finally:
            self._has_ended()
            self._free_rounds.release()

    def _fail(self, error: BaseException) -> None:
        if not self._stopped.is_set():
            self._error = self._error or error

    def _is_idle(self) -> bool:
        """Whether the main lane is: the gap between two batches does not count."""
        return self._waiting or (not self._batch_running and self._clock() - self._last_batch > self._idle_s)

    def _work(self, slow_round: Round) -> None:
        started = self._clock()
        facts = self._rounds.run(slow_round.entries, epoch=self.epoch)
        resolved, unresolved = entries_after(slow_round.entries, facts)
        with self._lock:
            rewritten = self._log.put(unresolved)
            positions = self._ledger.round_done(slow_round, resolved=resolved, rewritten=rewritten)
            self._ledger.forget(positions)
            self._ledger.release(slow_round)
            self._give_back(rewritten, started)
            self._log.repair(self._ledger.repairs())
            self._run_commands()
            self._log_ledger()
        for fact in facts:
            if isinstance(fact, Resolved) and fact.gave_up:
                log.emit(GaveUp(position=str(fact.position), reason=fact.gave_up))
        log.emit(
            SlowRound(
                pages=len(slow_round.pages),
                entries=len(slow_round.entries),
                resolved=len(positions),
                rewritten=len(rewritten),
                seconds=round(self._clock() - started, 3),
            )
        )

    def _give_back(self, rewritten: Sequence[Entry], since: float) -> None:
        """The tries of a round that began then and met an outage; of which one is found out later, `written` does."""
        affected = {entry.position for entry in rewritten if self._outages.was_open(entry.wiki_id, since)}
        self._log.put(self._ledger.give_back_tries(affected))
        self._lost_tries.in_round(entry for entry in rewritten if entry.position not in affected)

    def _look_for_commands(self) -> None:
        if self._batch_running or self._clock() - self._last_commands < _COMMANDS_S:
            return
        self._last_commands = self._clock()
        # No batch is at work, so nothing of one can be among what is read here.
        folded = self._log.read()
        self._log.repair(self._ledger.repairs(folded.voids, folded.lost))
        self._run_commands(folded.commands)

    def _run_commands(self, commands: Iterable[Command] = ()) -> None:
        """What is there of operators' wishes, but for those at whose page a lane is at work.

        Two writes, whatever their number, as the lock is held meanwhile. All effects are acked before the first command
        is noted as done: a crash in between leaves commands to be carried out again, which changes nothing more, and
        never one that had no effect. Of several for one position only the last state is written: a write promises no
        order among its records.
        """
        self._commands |= {command.id: command for command in commands}
        ready = [command for command in self._commands.values() if not self._ledger.busy(command.position)]
        changes: dict[Position, Entry] = {}
        for command in ready:
            changed = self._ledger.command(command.position, command.action)
            if changed is not None:
                changes[command.position] = changed
        self._log.put(changes.values())
        self._log.done(command.id for command in ready)
        for command in ready:
            del self._commands[command.id]
            is_deferred = command.position in changes
            log.emit(CommandCarriedOut(action=command.action, position=str(command.position), found=is_deferred))

    def _log_ledger(self) -> None:
        figures = (self._ledger.entries, self._ledger.bytes, self._ledger.pages)
        if figures != self._logged:
            self._logged = figures
            log.emit(DeferralStatus(entries=figures[0], bytes=figures[1], pages=figures[2]))


def _incomplete_read(batch: int, deferred: int, read_count: int, topic: str) -> PipelineError:
    return PipelineError(
        f"batch {batch} deferred {deferred} events, and {read_count} of them are in the partitions of {topic} "
        "that it reads",
        hint="its partitions may not be added to: the producers learn of a new one, and the job only when it starts; "
        "`python -m pipeline deferred move NEW_TOPIC` moves what is deferred into a new topic",
    )
