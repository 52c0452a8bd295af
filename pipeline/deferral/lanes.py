"""The driver's side of deferral: plans batches around the ledger, and works deferred events off in a slow lane.

    start    epoch marker, fold ─▶ ledger
    batch    plan (waits above the bound) ─▶ … ─▶ written: fold what the batch wrote, tombstone what it resolved
    slow     take ─▶ a Spark batch job ─▶ its own results, tombstones ─▶ release
    operator commands, which stand in the ledger's topic too, as soon as no lane is at the page

Every step that touches the ledger holds one lock. What fails in the slow lane is kept for `check`, which ends the
process: the ledger is folded again by the next.
"""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.deferral.entry import Entry
from pipeline.deferral.facts import Fact, FactsParam, entries_after
from pipeline.deferral.fold import Folded, check_epoch, fold
from pipeline.deferral.ledger import Ledger
from pipeline.deferral.rows import entry_rows
from pipeline.deferral.snapshot import Round, Snapshot
from pipeline.deferral.topic import LedgerTopic
from pipeline.deferral.wire import (
    Command,
    NullRecord,
    bounded_record,
    command_done,
    epoch_marker,
    parse,
    tombstone,
)
from pipeline.errors import PipelineError
from pipeline.records.record import Position, Record
from pipeline.sink import write
from pipeline.worker import RECORD_DDL, SOURCE_COLUMNS, work_off

if TYPE_CHECKING:
    from pyspark.accumulators import AccumulatorParam
    from pyspark.sql import SparkSession

_LOOK_S = 0.1
_IDLE_S = 1.0
_COMMANDS_S = 1.0


class Lanes:
    """`start`, then `plan` and `written` around each batch; `check` often; `stop` once."""

    def __init__(
        self,
        spark: "SparkSession",
        config: PipelineConfig,
        *,
        replays: bool,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        """`replays`: Spark will run a planned batch again. `clock` counts seconds, `now_ms` is the time of day."""
        self._spark, self._config = spark, config
        self._clock, self._now_ms = clock, now_ms
        self._replays = replays
        self._topic = LedgerTopic(config.sink.bootstrap_servers, config.deferral.topic, config.sink.max_request_size)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._commands: dict[str, Command] = {}
        self._markers: dict[int, int] = {}
        self._waiting = False
        self._batch_running = False
        self._last_batch = self._last_commands = clock()
        self._said: tuple[int, int, int] = (0, 0, 0)
        self._error: BaseException | None = None
        lane = config.deferral.slow_lane
        self._rounds = threading.Semaphore(lane.rounds)
        self._workers = ThreadPoolExecutor(max_workers=lane.rounds, thread_name_prefix="slow-round")
        self._idle_s = max(_IDLE_S, 2 * config.batch.trigger.total_seconds())
        self.epoch = 0

    def start(self) -> None:
        """Take over the ledger, with a new epoch. Raises PipelineError."""
        self._topic.open()
        before = self._read()
        self.epoch = before.epoch + 1
        marker = epoch_marker(self.epoch, topic=self._topic.topic)
        self._topic.write([marker], partitions=self._topic.partitions())
        # What came between the two reads counts as well: the fold begins again with all of it.
        folded = self._read(from_beginning=True)
        check_epoch(folded, own=self.epoch)
        bounds = self._config.deferral
        self._ledger = Ledger(
            folded.entries.values(),
            max_entries=bounds.max_entries,
            max_bytes=bounds.max_bytes,
            replaying=self._replays,
        )
        with self._lock:
            self._repair(folded.voids)
            self._carry_out(folded.commands)
            self._say_ledger()
        threading.Thread(target=self._schedule, name="slow-lane", daemon=True).start()

    def plan(self, number: int) -> Snapshot:
        """What the batch must know of the ledger. Waits first while the ledger is over its bound."""
        self._await_room(number)
        with self._lock:
            self._batch_running = True
            return self._ledger.plan(
                limit_entries=self._config.batch.max_offsets,
                limit_bytes=self._config.result_buffer,
                now_ms=self._now_ms(),
            )

    def written(self, snapshot: Snapshot, number: int) -> None:
        """All of the batch is acknowledged: bring the ledger up to date with it. Raises PipelineError."""
        with self._lock:
            folded = self._read()
            check_epoch(folded, own=self.epoch)
            resolved = self._ledger.batch_done(snapshot, folded.written_by(number))
            self._write_over(resolved)
            self._ledger.forget(resolved)
            self._batch_running = False
            self._last_batch = self._clock()
            self._repair(folded.voids)
            self._carry_out(folded.commands)
            self._say_ledger()

    def check(self) -> None:
        """Raises PipelineError when the slow lane has failed."""
        if self._error is not None:
            if isinstance(self._error, PipelineError):
                raise self._error
            raise PipelineError(f"slow lane failed: {self._error}") from self._error

    def stop(self) -> None:
        """Begin nothing more. A round under way is given up with the session, and repeated after the next start."""
        self._stopped.set()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _await_room(self, number: int) -> None:
        if not self._must_wait():
            return
        with self._lock:
            entries, size = self._ledger.entries, self._ledger.bytes
        bounds = self._config.deferral
        log.say(
            "waiting",
            batch=number,
            reason=f"{entries} deferred events of {size} bytes, bound {bounds.max_entries} and {bounds.max_bytes}",
            entries=entries,
            bytes=size,
        )
        self._waiting = True
        try:
            while self._must_wait():
                if self._stopped.wait(_LOOK_S) or self._error is not None:
                    raise PipelineError("the wait for room in the ledger was ended")
        finally:
            self._waiting = False
        log.say("resumed", batch=number)

    def _must_wait(self) -> bool:
        with self._lock:
            return self._ledger.must_wait

    def _schedule(self) -> None:
        """The slow lane's thread: takes what is due, and carries out commands while no batch is at work."""
        try:
            while not self._stopped.wait(_LOOK_S):
                with self._lock:
                    self._look_for_commands()
                if not self._rounds.acquire(blocking=False):
                    continue
                with self._lock:
                    taken = self._ledger.take(
                        now_ms=self._now_ms(), max_pages=self._config.deferral.slow_lane.pages, idle=self._is_idle()
                    )
                if taken is None:
                    self._rounds.release()
                else:
                    self._workers.submit(self._work, taken).add_done_callback(self._ended)
        except BaseException as error:  # noqa: BLE001 — `check` raises it in the main thread
            self._fail(error)

    def _ended(self, round_: "Future[None]") -> None:
        self._rounds.release()
        if not round_.cancelled() and (error := round_.exception()) is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._stopped.is_set():
            self._error = self._error or error

    def _is_idle(self) -> bool:
        """Whether the main lane is: the gap between two batches does not count."""
        return self._waiting or (not self._batch_running and self._clock() - self._last_batch > self._idle_s)

    def _work(self, taken: Round) -> None:
        started = self._clock()
        entries = taken.entries
        empty: list[Fact] = []
        facts = self._spark.sparkContext.accumulator(empty, cast("AccumulatorParam[list[Fact]]", FactsParam()))
        function = work_off(self._config, entries, facts, epoch=self.epoch)
        # One task: the round's own bound on requests is for all of it.
        rows = entry_rows(self._spark, entries).select(*SOURCE_COLUMNS).coalesce(1)
        write(rows.mapInArrow(function, RECORD_DDL), self._config.sink)
        resolved, rewritten = entries_after(entries, facts.value)
        with self._lock:
            positions = self._ledger.round_done(taken, resolved=resolved, rewritten=rewritten)
            self._write_over(positions)
            self._ledger.forget(positions)
            self._ledger.release(taken)
            self._repair()
            self._say_ledger()
        log.say(
            "slow_round",
            pages=len(taken.pages),
            entries=len(entries),
            resolved=len(positions),
            rewritten=len(rewritten),
            seconds=round(self._clock() - started, 3),
        )

    def _read(self, *, from_beginning: bool = False) -> Folded:
        """Fold what is new in the topic since the last read, or all of it."""
        records = self._topic.read(from_beginning=from_beginning)
        items = [parse(r.key, r.value, r.headers, partition=r.partition, offset=r.offset) for r in records]
        folded = fold(items, markers=None if from_beginning else self._markers)
        self._markers = folded.markers
        return folded

    def _write_over(self, positions: Iterable[Position]) -> None:
        self._topic.write([tombstone(position, topic=self._topic.topic, epoch=self.epoch) for position in positions])

    def _record(self, entry: Entry) -> Record:
        limit = self._config.sink.max_request_size
        return bounded_record(entry, topic=self._topic.topic, epoch=self.epoch, limit_bytes=limit)

    def _repair(self, voids: Iterable[Position] = ()) -> None:
        self._topic.write(
            [
                self._record(entry) if entry else tombstone(position, topic=self._topic.topic, epoch=self.epoch)
                for position, entry in self._ledger.repairs(voids)
            ]
        )

    def _look_for_commands(self) -> None:
        if self._batch_running or self._clock() - self._last_commands < _COMMANDS_S:
            return
        self._last_commands = self._clock()
        # No batch is at work, so nothing of one can be among what is read here.
        folded = self._read()
        check_epoch(folded, own=self.epoch)
        self._repair(folded.voids)
        self._carry_out(folded.commands)

    def _carry_out(self, commands: Iterable[Command]) -> None:
        self._commands |= {command.id: command for command in commands}
        for command in list(self._commands.values()):
            if self._ledger.busy(command.position):
                continue
            changed = self._ledger.command(command.position, command.action)
            records: list[Record | NullRecord] = [self._record(changed)] if changed else []
            done = command_done(command.id, topic=self._topic.topic, epoch=self.epoch)
            # One after the other: a command that is done must have had its effect.
            self._topic.write(records)
            self._topic.write([done])
            del self._commands[command.id]
            log.say("command", action=command.action, position=str(command.position), found=changed is not None)

    def _say_ledger(self) -> None:
        figures = (self._ledger.entries, self._ledger.bytes, self._ledger.pages)
        if figures != self._said:
            self._said = figures
            log.say("deferral", entries=figures[0], bytes=figures[1], pages=figures[2])
