"""The driver's side of deferral: plans batches around the ledger, and processes deferred events in a slow lane.

    start    epoch marker, fold ─▶ ledger
    batch    plan (waits above the bound, and while a breaker is open) ─▶ … ─▶
             written: fold what the batch wrote, tombstone what it resolved
    slow     take ─▶ a Spark batch job ─▶ its own results, tombstones ─▶ release
    operator commands, which stand in the ledger's topic too, as soon as no lane is at the page

Every step that touches the ledger holds one lock. What fails in the slow lane is kept for `check`, which ends the
process: the ledger is folded again by the next. Threads are daemons, so that a round under way does not hold it.
"""

import functools
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.deferral.entry import Entry
from pipeline.deferral.facts import Fact, Resolved, entries_after
from pipeline.deferral.ledger import Ledger
from pipeline.deferral.ledger_log import LedgerLog
from pipeline.deferral.outages import Outages
from pipeline.deferral.prober import Prober
from pipeline.deferral.snapshot import Round, Snapshot
from pipeline.deferral.topic import LedgerTopic
from pipeline.deferral.wire import Command
from pipeline.errors import PipelineError, root_cause
from pipeline.events import CommandCarriedOut, DeferralStatus, GaveUp, Resumed, SlowRound, Waiting
from pipeline.fetch.breaker import Answer, Ask, Opened
from pipeline.fetch.probe import probe
from pipeline.records.record import Position

_LOOK_S = 0.1
_IDLE_S = 1.0
_COMMANDS_S = 1.0


class Rounds(Protocol):
    """What does the work of a slow round; see `pipeline.deferral.rounds`."""

    def run(self, entries: Sequence[Entry], *, epoch: int, limit_bytes: int) -> list[Fact]:
        """Returns what became of the entries, when all of it is acknowledged."""


class Lanes:
    """`start`, then `plan` and `written` around each batch; `check` often; `stop` once."""

    def __init__(
        self,
        config: PipelineConfig,
        topic: LedgerTopic,
        rounds: Rounds,
        *,
        replays: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        probe: Callable[[PipelineConfig, str, Ask, Callable[[], bool]], Answer | None] = probe,
    ) -> None:
        """`replays` tells whether Spark will run a planned batch again. It is asked when the epoch's markers are
        written, as a driver that still lives may plan a batch until then. `clock` counts seconds, `now_ms` is the time
        of day. `probe` is that of `pipeline.fetch.probe`.
        """
        self._config, self._log, self._rounds = config, LedgerLog(topic), rounds
        self._clock, self._now_ms = clock, now_ms
        self._replays = replays
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._commands: dict[str, Command] = {}
        self._waiting = False
        self._batch_running = False
        self._last_batch = self._last_commands = clock()
        self._said: tuple[int, int, int] = (0, 0, 0)
        self._error: BaseException | None = None
        self._outages = Outages(config.breaker, clock)
        self._prober = Prober(self._outages, functools.partial(probe, config), self._stopped.is_set)
        self._free_rounds = threading.Semaphore(config.deferral.slow_lane.rounds)
        self._rounds_at_work = 0
        self._idle_s = max(_IDLE_S, 2 * config.batch.trigger.total_seconds())

    @property
    def epoch(self) -> int:
        return self._log.epoch

    @property
    def limit_bytes(self) -> int:
        """How large a record of the ledger's topic may be."""
        return self._log.limit_bytes

    @property
    def status(self) -> tuple[int, int, int]:
        """Entries, bytes and pages of the ledger when a lane was last done with something."""
        return self._said

    def start(self) -> None:
        """Take over the ledger, and begin to process it. Raises PipelineError."""
        self.take_over()
        for name, look in (("slow-lane", self.look), ("prober", self.probe)):
            threading.Thread(target=self._schedule, args=[look], name=name, daemon=True).start()

    def take_over(self) -> None:
        """Fold the ledger under a new epoch. Raises PipelineError."""
        folded = self._log.begin()
        bounds = self._config.deferral
        self._ledger = Ledger(
            folded.entries.values(),
            max_entries=bounds.max_entries,
            max_bytes=bounds.max_bytes,
            replaying=self._replays(),
        )
        with self._lock:
            self._log.repair(self._ledger.repairs(folded.voids))
            self._carry_out(folded.commands)
            self._say_ledger()

    @property
    def breakers(self) -> Mapping[str, bool]:
        """Every wiki whose breaker has opened, and whether it is open."""
        return self._outages.status

    def plan(self, number: int) -> Snapshot:
        """What the batch must know of the ledger. Waits first while a wiki is open or the ledger is over its bound.

        Raises PipelineError when the job is stopped in the wait.
        """
        self._wait_while(self._unhealthy, number)
        self._wait_while(self._without_room, number)
        with self._lock:
            self._batch_running = True
            return self._ledger.plan(
                limit_entries=self._config.batch.max_offsets,
                limit_bytes=self._config.result_buffer,
                now_ms=self._now_ms(),
            )

    def written(self, snapshot: Snapshot, number: int, opened: Iterable[Opened] = ()) -> None:
        """All of the batch is acknowledged: bring the ledger up to date with it. `opened` is what its tasks have found
        to be unhealthy. Raises PipelineError.
        """
        # Before the slow lane can take what the batch has deferred.
        self._outages.reported(opened)
        with self._lock:
            folded = self._log.read()
            resolved = self._ledger.batch_done(snapshot, folded.written_by(number))
            self._log.resolve(resolved)
            self._ledger.forget(resolved)
            self._batch_running = False
            self._last_batch = self._clock()
            self._log.repair(self._ledger.repairs(folded.voids))
            self._carry_out(folded.commands)
            self._say_ledger()

    def check(self) -> None:
        """Raises PipelineError when the slow lane has failed."""
        if isinstance(self._error, PipelineError):
            raise self._error
        if self._error is not None:
            raise PipelineError(f"slow lane failed: {root_cause(str(self._error))}") from self._error

    def stop(self) -> None:
        """Begin nothing more. A round that does not end before the process does is repeated after the next start."""
        self._stopped.set()

    @property
    def rounds(self) -> int:
        """How many rounds are under way."""
        with self._lock:
            return self._rounds_at_work

    def look(self) -> None:
        """Carry out commands while no batch is at work, and begin rounds with what is due. Raises PipelineError."""
        with self._lock:
            self._look_for_commands()
        while self._free_rounds.acquire(blocking=False):
            with self._lock:
                taken = self._take()
            if taken is None:
                self._free_rounds.release()
                return
            name = f"slow-round-{taken.number}"
            threading.Thread(target=self._round, args=[taken], name=name, daemon=True).start()

    def _take(self) -> Round | None:
        if self._stopped.is_set() or self._outages.resting:
            return None
        taken = self._ledger.take(
            now_ms=self._now_ms(),
            max_pages=self._config.deferral.slow_lane.pages,
            idle=self._is_idle(),
        )
        self._rounds_at_work += taken is not None
        return taken

    def _wait_while(self, blocked: Callable[[], Waiting | None], number: int) -> None:
        """Until nothing blocks the batch; the lane is idle meanwhile."""
        waiting = blocked()
        if waiting is None:
            return
        log.say(replace(waiting, batch=number))
        self._waiting = True
        try:
            while blocked() is not None:
                self.check()
                if self._stopped.wait(_LOOK_S):
                    raise PipelineError(f"a wait was ended: {waiting.reason}")
        finally:
            self._waiting = False
        log.say(Resumed(batch=number))

    def _unhealthy(self) -> Waiting | None:
        wikis = self._outages.waits
        return Waiting(reason=f"breaker open: {', '.join(wikis)}", wikis=wikis) if wikis else None

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

    def _schedule(self, look: Callable[[], None]) -> None:
        try:
            while not self._stopped.wait(_LOOK_S):
                look()
        except BaseException as error:  # noqa: BLE001 — `check` raises it in the main thread
            self._fail(error)

    def _round(self, taken: Round) -> None:
        try:
            self._work(taken)
        except BaseException as error:  # noqa: BLE001 — `check` raises it in the main thread
            self._fail(error)
        finally:
            with self._lock:
                self._rounds_at_work -= 1
            self._free_rounds.release()

    def _fail(self, error: BaseException) -> None:
        if not self._stopped.is_set():
            self._error = self._error or error

    def _is_idle(self) -> bool:
        """Whether the main lane is: the gap between two batches does not count."""
        return self._waiting or (not self._batch_running and self._clock() - self._last_batch > self._idle_s)

    def _work(self, taken: Round) -> None:
        started = self._clock()
        facts = self._rounds.run(taken.entries, epoch=self.epoch, limit_bytes=self.limit_bytes)
        resolved, rewritten = entries_after(taken.entries, facts)
        with self._lock:
            positions = self._ledger.round_done(taken, resolved=resolved, rewritten=rewritten)
            self._log.resolve(positions)
            self._ledger.forget(positions)
            self._ledger.release(taken)
            self._log.repair(self._ledger.repairs())
            self._carry_out()
            self._say_ledger()
        for fact in facts:
            if isinstance(fact, Resolved) and fact.gave_up:
                log.say(GaveUp(position=str(fact.position), reason=fact.gave_up))
        log.say(
            SlowRound(
                pages=len(taken.pages),
                entries=len(taken.entries),
                resolved=len(positions),
                rewritten=len(rewritten),
                seconds=round(self._clock() - started, 3),
            )
        )

    def _look_for_commands(self) -> None:
        if self._batch_running or self._clock() - self._last_commands < _COMMANDS_S:
            return
        self._last_commands = self._clock()
        # No batch is at work, so nothing of one can be among what is read here.
        folded = self._log.read()
        self._log.repair(self._ledger.repairs(folded.voids))
        self._carry_out(folded.commands)

    def _carry_out(self, commands: Iterable[Command] = ()) -> None:
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
            found = command.position in changes
            log.say(CommandCarriedOut(action=command.action, position=str(command.position), found=found))

    def _say_ledger(self) -> None:
        figures = (self._ledger.entries, self._ledger.bytes, self._ledger.pages)
        if figures != self._said:
            self._said = figures
            log.say(DeferralStatus(entries=figures[0], bytes=figures[1], pages=figures[2]))
