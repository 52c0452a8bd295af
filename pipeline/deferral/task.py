"""A job within a lane: what becomes of a record in the main lane's tasks and in those of the slow lane.

    main  admit ─ drop (its entry is unchanged) · hold (behind a deferred one) · run ─▶ done, or deferred as stuck
    slow  a page's entries one after the other ─▶ done, or again as stuck, and the rest of the page unchanged

`process` may run ahead of the page's order; `in_turn`, which does what an outcome has to do in the page's order, and
`settle` come in that order, and `settle` has the last word. What the main lane
defers goes out as a record of the ledger's topic; what the slow lane's driver must know goes out as facts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pipeline.deferral.batch_budget import BATCH_BUDGET, BatchBudget
from pipeline.deferral.entry import Cause, Entry, Fact, Page, Resolved, Rewritten
from pipeline.deferral.lane import WAITS, MainLane, SlowLane
from pipeline.deferral.snapshot import UNRESERVED, Reservation
from pipeline.deferral.wire import bounded_record, tombstone
from pipeline.fetch.deadline import notice_begin
from pipeline.jobs.message import InTurn, Outcome, Processed, Processor, SourceMessage, Unfinished
from pipeline.records.error_event import Failure
from pipeline.records.record import Position, Record
from pipeline.worker.ordered_writer import OrderedWriter

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WAITS = Unfinished(Failure("waits", "waits for its page"))


@dataclass(frozen=True, slots=True)
class LedgerTarget:
    """Where the main lane writes entries, for which batch, and how large they may be. `task` is the attempt that writes
    them; only a worker knows it.
    """

    topic: str
    epoch: int
    limit_bytes: int
    batch: int
    task: int | None = None

    def record(self, entry: Entry) -> Record:
        """The entry's record, at most `limit_bytes`."""
        return bounded_record(
            entry,
            topic=self.topic,
            epoch=self.epoch,
            limit_bytes=self.limit_bytes,
            batch=self.batch,
            task=self.task,
        )


@dataclass(frozen=True)
class DirectTask:
    """Without deferral: a record holds its batch until it is done, or ends in an error event after `limit_s`."""

    job: Processor
    limit_s: float

    async def process(self, message: SourceMessage) -> Processed:
        """The job's own outcome; `Unfinished` when `limit_s` was over."""
        return await self.job.process(message, limit_s=self.limit_s)

    async def in_turn(self, message: SourceMessage, outcome: Processed) -> Processed:  # noqa: ARG002
        """What the outcome has to do now."""
        return await outcome.finish() if isinstance(outcome, InTurn) else outcome

    def settle(self, message: SourceMessage, outcome: Processed) -> Record | None:
        """The record to emit; an unfinished event becomes an error event, as no ledger takes it."""
        outcome = finished(outcome)
        return self.job.error(message, never_fetched(outcome.failure)) if isinstance(outcome, Unfinished) else outcome


@dataclass(frozen=True)
class MainTask:
    """One task of a batch. `limit_s` is the inline allowance; `backoff_ms` tells how long a stuck event rests at first,
    by what the upstream asked for (seconds, or None).
    """

    job: Processor
    lane: MainLane
    target: LedgerTarget
    limit_s: float
    backoff_ms: Callable[[float | None], int]
    now_ms: Callable[[], int]
    budget: BatchBudget

    async def process(self, message: SourceMessage) -> Processed:
        """What the job makes of the message, or anything when its turn will not come in this batch."""
        position = message.position
        admission = self.lane.admit(position, page_of(message))
        if admission == "hold":
            self.job.hold(message)
        if admission != "run":
            return _WAITS
        if (reservation := self.lane.reservation(position)).dropped:
            return self.job.error(message, given_up(reservation))
        return await self.budget.within(lambda: self.job.process(message, limit_s=self.limit_s))

    async def in_turn(self, message: SourceMessage, outcome: Processed) -> Processed:
        """What the outcome has to do now, unless its turn will not come in this batch: then it does nothing."""
        if not isinstance(outcome, InTurn):
            return outcome
        if self.lane.admit(message.position, page_of(message)) != "run":
            return _WAITS

        async def begun() -> Outcome:
            notice_begin()
            return await outcome.finish()

        return await self.budget.within(begun)

    def settle(self, message: SourceMessage, outcome: Processed) -> Record | None:
        """The record to emit for the message, one of the ledger's included; None when none does."""
        page = page_of(message)
        admission = self.lane.admit(message.position, page)
        if admission == "drop":
            return None
        if admission == "hold":
            return self._defer(message)
        match finished(outcome):
            case None:
                return None
            case Unfinished(failure, tried=False, wiki_id=wiki_id):
                return self._defer(message, reason_of(failure), cause_of(failure), wiki_id)
            case Unfinished(failure, retry_after_s, wiki_id=wiki_id):
                not_before_ms = self.now_ms() + self.backoff_ms(retry_after_s)
                return self._defer(
                    message, reason_of(failure), cause_of(failure), wiki_id, is_tried=True, not_before_ms=not_before_ms
                )
            case Record() as record:
                if not self.lane.may_emit(page, record.topic):
                    return self._defer(message)
                return record

    def _defer(
        self,
        message: SourceMessage,
        reason: str = WAITS,
        cause: Cause | None = None,
        wiki_id: str | None = None,
        *,
        is_tried: bool = False,
        not_before_ms: int = 0,
    ) -> Record:
        return self.target.record(
            self.lane.defer(
                message.position,
                key=message.key,
                value=message.value,
                appended_us=appended_us(message),
                reason=reason,
                cause=cause,
                is_tried=is_tried,
                not_before_ms=not_before_ms,
                wiki_id=wiki_id,
                headers=message.headers,
                counted=message.counted,
            )
        )


@dataclass(frozen=True)
class SlowTask:
    """One task of a slow round. `reservations` are those of the ledger by entry; `report` takes the result of each;
    `is_over` tells whether the round may start no further entry.
    """

    job: Processor
    lane: SlowLane
    limit_s: float
    now_ms: Callable[[], int]
    reservations: Mapping[Position, Reservation]
    report: Callable[[Fact], None] = field(repr=False)
    is_over: Callable[[], bool] = lambda: False

    async def process(self, message: SourceMessage) -> Processed:
        """To be called in the order of the page: nothing is fetched behind an entry that was not emitted."""
        reservation = self.reservations.get(message.position, UNRESERVED)
        if self.is_over():
            self.lane.postpone(page_of(message))
        if self.lane.admit(page_of(message)) == "skip":
            return _WAITS
        if reservation.dropped:
            return self.job.error(message, given_up(reservation))
        return await self.job.process(message, limit_s=self.limit_s)

    async def in_turn(self, message: SourceMessage, outcome: Processed) -> Processed:  # noqa: ARG002
        """What the outcome has to do now; `process` gives none to do behind an entry that was not emitted."""
        return await outcome.finish() if isinstance(outcome, InTurn) else outcome

    def settle(self, message: SourceMessage, outcome: Processed) -> Record | None:
        """The record that is emitted. An entry of which nothing is reported is unchanged."""
        page, gave_up = page_of(message), ""
        if self.lane.admit(page) == "skip":
            return None
        outcome = finished(outcome)
        if isinstance(outcome, Unfinished):
            retry = self.lane.failed(
                self._entry(message, outcome.wiki_id),
                now_ms=self.now_ms(),
                reason=reason_of(outcome.failure),
                retry_after_s=outcome.retry_after_s,
            )
            if retry is not None:
                self.report(
                    Rewritten(message.position, retry.attempt, retry.not_before_ms, retry.reason, wiki_id=retry.wiki_id)
                )
                return None
            gave_up = reason_of(outcome.failure)
            outcome = self.job.error(message, never_fetched(outcome.failure))
        if outcome is not None and not self.lane.may_emit(page, outcome.topic):
            return None
        self.report(Resolved(message.position, gave_up))
        return outcome

    def _entry(self, message: SourceMessage, wiki_id: str | None) -> Entry:
        reservation = self.reservations.get(message.position, UNRESERVED)
        return Entry(
            position=message.position,
            key=message.key,
            value=message.value,
            appended_us=appended_us(message),
            kind="stuck",
            attempt=reservation.attempt,
            not_before_ms=0,
            reason=reservation.reason,
            dropped=reservation.dropped,
            cause=reservation.cause,
            wiki_id=wiki_id or reservation.wiki_id,
            headers=message.headers,
            counted=message.counted,
        )


def finished(outcome: Processed) -> Outcome:
    """The results of `in_turn`. Raises TypeError for an outcome whose turn was skipped."""
    if isinstance(outcome, InTurn):
        raise TypeError("an outcome that has something to do in its turn was settled before it")
    return outcome


def page_of(message: SourceMessage) -> Page:
    """The page of a message: topic, partition and key, so that a page is never in two partitions. What was decided is
    of several topics, and its key says all.
    """
    return page(message.position.topic, message.position.partition, message.key, message.decided)


def page(topic: str, partition: int, key: bytes | None, is_decided: bool) -> Page:
    """As `page_of` has it."""
    return ("", 0, key) if is_decided else (topic, partition, key)


def appended_us(message: SourceMessage) -> int:
    """Microseconds since the epoch."""
    return (message.appended - _EPOCH) // timedelta(microseconds=1)


def reason_of(failure: Failure) -> str:
    """`error_type: message`, as the ledger keeps it."""
    return f"{failure.error_type}: {failure.message}"


def cause_of(failure: Failure) -> Cause | None:
    """The cause by which an operator decides; None for an upstream's failure."""
    return "batch_budget" if failure.error_type == BATCH_BUDGET else None


def never_fetched(failure: Failure) -> Failure:
    """The failure of an event whose fetches all failed; it depends on the error's class alone.

    Details of a try (a status, the revision) would differ when the event is processed again after a crash, and the
    error event has to be the same.
    """
    return Failure(failure.error_type, "not fetched in any of its tries")


def given_up(reservation: Reservation) -> Failure:
    """Why an entry that was dropped has no output."""
    if reservation.cause == "too_large":
        return Failure("source_event_too_large", "the source event is too large to be deferred until its page's turn")
    return Failure("dropped_by_operator", f"dropped by an operator; it was deferred because: {reservation.reason}")


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of one entry: the record that is emitted, and the fact for the driver; either may be missing."""

    record: Record | None
    fact: Fact | None

    @property
    def size(self) -> int:
        """Bytes of the values of the record, and of those that follow it."""
        return self.record.payload_bytes if self.record else 0


@dataclass(frozen=True)
class RoundWriter:
    """Writes events of a slow round while it is at work, and behind their acks the tombstones of their entries.

    Spark's sink tells of acks only when the task ends, which may be minutes later; a crash would repeat all of the
    round. A tombstone is written only for what is acknowledged, so it is right from any attempt. `topic` is the
    ledger's, `epoch` that of the round's driver.
    """

    writer: OrderedWriter
    topic: str
    epoch: int

    def write(self, settled: Sequence[Settled]) -> list[Fact]:
        """Writes records, then the tombstones of resolved entries; returns the facts when all of it is acknowledged.

        Raises PipelineError when something is refused.
        """
        self.writer.send(record for outcome in settled if outcome.record for record in outcome.record.all)
        self.writer.flush()
        facts = [outcome.fact for outcome in settled if outcome.fact]
        resolved = [fact.position for fact in facts if isinstance(fact, Resolved)]
        self.writer.send(tombstone(position, topic=self.topic, epoch=self.epoch) for position in resolved)
        self.writer.flush()
        return facts
