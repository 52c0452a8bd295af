"""The ledger's topic in the ledger's words: what is folded from it and what is written to it under one epoch.

    begin ─▶ the fold of all there is, with the marker of a new epoch written behind it
    read  ─▶ the fold of what came since, as long as no process has begun a later epoch

Every write returns when it is acknowledged. Not safe to use from several threads at once.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from uuid import uuid4

from pipeline import log
from pipeline.deferral.entry import Entry
from pipeline.deferral.fold import TWO_PROCESSES, Folded, Winners, check_epoch, fold
from pipeline.deferral.ledger_start import LedgerMark, LedgerStart, LedgerWish
from pipeline.deferral.topic import LedgerTopic, items_of
from pipeline.deferral.wire import (
    EpochMarker,
    Item,
    NullRecord,
    bounded_record,
    command_done,
    entry_in,
    epoch_marker,
    tombstone,
)
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import LedgerTaken
from pipeline.records.record import Position, Record

ANY = LedgerStart()
"""Whatever is there is taken with what it holds, and made where nothing is: for a bench, never for a job."""


class LedgerLog:
    """`epoch` is 0 before `begin`; `limit_bytes` bounds the records of entries."""

    def __init__(self, topic: LedgerTopic) -> None:
        self._topic = topic
        self._markers: dict[int, int] = {}
        self.epoch = 0

    @property
    def limit_bytes(self) -> int:
        """The largest record that the ledger's topic takes."""
        return self._topic.limit_bytes

    @property
    def mark(self) -> LedgerMark:
        """The mark by which the ledger is recognised, once it was taken over."""
        return LedgerMark(self._topic.topic, self._topic.id, self.epoch)

    def begin(self, start: LedgerStart = ANY) -> Folded:
        """Open the topic, take it over with a new epoch and fold it. Raises PipelineError, RefusedError for a ledger
        that the start may not take.
        """
        self._topic.open(start)
        if start.entries == "refuse":
            # Before the marker, which would end the job whose ledger it is.
            start.require_empty(self._topic.topic, len(fold(items_of(self._topic.read())).deferred))
        folded = self._checked(fold(self._taken_over(start)))
        discarded = folded.deferred if start.entries == "discard" else {}
        if discarded:
            self.resolve({**discarded, **dict.fromkeys(folded.voids)})
            folded = replace(folded, entries={}, orphans={}, voids=[])
        mark = self.mark
        log.emit(
            LedgerTaken(
                topic=mark.topic, id=mark.id, epoch=mark.epoch, entries=len(folded.deferred), discarded=len(discarded)
            )
        )
        return folded

    def read(self, batch: int | None = None, tasks: Set[int] = frozenset()) -> Folded:
        """Fold what came since the last read. `batch` has ended since, by these attempts of its `tasks`.

        Raises FencedError when a later epoch has begun, PipelineError.
        """
        winners = Winners(self.epoch, batch, tasks)
        return self._checked(fold(items_of(self._topic.read()), markers=self._markers, winners=winners))

    def resolve(self, positions: Iterable[Position]) -> None:
        """Write tombstones."""
        self._topic.write([self._tombstone(position) for position in positions])

    def put(self, entries: Iterable[Entry]) -> list[Entry]:
        """Write entries; as the topic has them then, without its value where one is too large for that."""
        records = [self._record(entry) for entry in entries]
        self._topic.write(records)
        return [entry_in(record) for record in records]

    def repair(self, states: Iterable[tuple[Position, Entry | None]]) -> None:
        """Write the ledger's state of each position over what is void there."""
        self._topic.write([self._record(entry) if entry else self._tombstone(position) for position, entry in states])

    def done(self, command_ids: Iterable[str]) -> None:
        """Note that operators' commands are carried out."""
        self._topic.write(
            [command_done(command_id, topic=self._topic.topic, epoch=self.epoch) for command_id in command_ids]
        )

    def _checked(self, folded: Folded) -> Folded:
        check_epoch(folded, own=self.epoch)
        self._markers = folded.markers
        return folded

    def _taken_over(self, start: LedgerStart) -> Iterator[Item | None]:
        """All that is there, and then, behind a marker of the epoch after the highest, what came in the meantime."""
        highest = 0
        for item in items_of(self._topic.read(from_beginning=True)):
            if isinstance(item, EpochMarker):
                highest = max(highest, item.epoch)
            yield item
        start.require_epoch(self._topic.topic, highest)
        self.epoch = highest + 1
        marker = epoch_marker(self.epoch, topic=self._topic.topic, process=uuid4())
        self._topic.write([marker], partitions=self._topic.partitions())
        yield from self._alone(items_of(self._topic.read()))

    def _alone(self, items: Iterable[Item | None]) -> Iterator[Item | None]:
        """The items, unless another driver took the same epoch at the same moment: then neither is the later one."""
        marked: set[int] = set()
        for item in items:
            if isinstance(item, EpochMarker) and item.epoch == self.epoch:
                if item.place.partition in marked:
                    raise PipelineError(
                        f"another driver began epoch {self.epoch} at the same time",
                        hint=TWO_PROCESSES,
                    )
                marked.add(item.place.partition)
            yield item

    def _record(self, entry: Entry) -> Record:
        return bounded_record(entry, topic=self._topic.topic, epoch=self.epoch, limit_bytes=self.limit_bytes)

    def _tombstone(self, position: Position) -> NullRecord:
        return tombstone(position, topic=self._topic.topic, epoch=self.epoch)


def require_nothing_deferred(topic: LedgerTopic, wish: LedgerWish | None) -> LedgerMark | None:
    """For a start without deferral of a job that has deferred: nothing would process those events, which are committed,
    so they would be lost. `topic` is that of the checkpoint's ledger, and closed afterwards. Returns what the
    checkpoint has to know of it from now on, None where nothing has changed.

    Raises RefusedError while it holds deferred events that the operator does not discard, PipelineError where it cannot
    be read.
    """
    if wish == "discard":
        log = LedgerLog(topic)
        log.begin(LedgerStart(missing="make", entries="discard"))
        topic.close()
        return log.mark
    topic.open()
    deferred = len(fold(items_of(topic.read())).deferred)
    topic.close()
    if deferred:
        raise RefusedError(
            f"ledger topic {topic.topic} holds {deferred} deferred events, which no job with deferral.policy: none "
            "processes",
            hint="start with deferral.policy: defer until `deferred list` shows none; --discard-ledger gives them up",
        )
    return None
