"""The ledger's topic in the ledger's words: what is folded from it and what is written to it under one epoch.

    begin ─▶ the fold of all there is, with the marker of a new epoch written behind it
    read  ─▶ the fold of what came since, as long as no process has begun a later epoch

Every write returns when it is acknowledged. Not safe to use from several threads at once.
"""

from collections.abc import Iterable, Iterator

from pipeline.deferral.entry import Entry
from pipeline.deferral.fold import FencedError, Folded, check_epoch, fold
from pipeline.deferral.topic import LedgerTopic, items_of
from pipeline.deferral.wire import (
    EpochMarker,
    Item,
    NullRecord,
    bounded_record,
    command_done,
    epoch_marker,
    tombstone,
)
from pipeline.records.record import Position, Record


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

    def begin(self) -> Folded:
        """Open the topic, take it over with a new epoch and fold it. Raises PipelineError."""
        self._topic.open()
        return self._checked(fold(self._taken_over()))

    def read(self) -> Folded:
        """Fold what came since the last read. Raises FencedError when a later epoch has begun, PipelineError."""
        return self._checked(fold(items_of(self._topic.read()), markers=self._markers))

    def resolve(self, positions: Iterable[Position]) -> None:
        """Write tombstones."""
        self._topic.write([self._tombstone(position) for position in positions])

    def put(self, entries: Iterable[Entry]) -> None:
        """Write entries as the driver knows them."""
        self._topic.write([self._record(entry) for entry in entries])

    def repair(self, states: Iterable[tuple[Position, Entry | None]]) -> None:
        """Write the ledger's state of each position over what is void there."""
        self._topic.write([self._record(entry) if entry else self._tombstone(position) for position, entry in states])

    def done(self, command_ids: Iterable[str]) -> None:
        """Note that operators' commands are carried out."""
        self._topic.write([command_done(one, topic=self._topic.topic, epoch=self.epoch) for one in command_ids])

    def _checked(self, folded: Folded) -> Folded:
        check_epoch(folded, own=self.epoch)
        self._markers = folded.markers
        return folded

    def _taken_over(self) -> Iterator[Item | None]:
        """All that is there, and then, behind a marker of the epoch after the highest, what came in the meantime."""
        highest = 0
        for item in items_of(self._topic.read()):
            if isinstance(item, EpochMarker):
                highest = max(highest, item.epoch)
            yield item
        self.epoch = highest + 1
        marker = epoch_marker(self.epoch, topic=self._topic.topic)
        self._topic.write([marker], partitions=self._topic.partitions())
        yield from self._alone(items_of(self._topic.read()))

    def _alone(self, items: Iterable[Item | None]) -> Iterator[Item | None]:
        """The items, unless another driver took the same epoch at the same moment: then neither is the later one."""
        marked: set[int] = set()
        for item in items:
            if isinstance(item, EpochMarker) and item.epoch == self.epoch:
                if item.place.partition in marked:
                    raise FencedError(
                        f"another driver began epoch {self.epoch} at the same time",
                        hint="two processes run the same job; end one of them",
                    )
                marked.add(item.place.partition)
            yield item

    def _record(self, entry: Entry) -> Record:
        return bounded_record(entry, topic=self._topic.topic, epoch=self.epoch, limit_bytes=self.limit_bytes)

    def _tombstone(self, position: Position) -> NullRecord:
        return tombstone(position, topic=self._topic.topic, epoch=self.epoch)
