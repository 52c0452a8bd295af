"""The ledger's topic in memory: what several drivers write is one log, which each reads on from its own place."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from pipeline.deferral.entry import Entry
from pipeline.deferral.fold import Folded, fold
from pipeline.deferral.ledger_start import LedgerStart
from pipeline.deferral.topic import LedgerTopic, LogRecord, items_of
from pipeline.deferral.wire import Item, NullRecord, to_record
from pipeline.errors import PipelineError
from pipeline.records.record import Record

TOPIC = "ledger"


@dataclass
class Log:
    """All records of the topic; those without a partition of their own go to partition 0."""

    partition_count: int = 1
    records: list[LogRecord] = field(default_factory=list)

    def append(self, records: Iterable[Record | NullRecord], partition: int = 0) -> None:
        for record in records:
            offset = sum(1 for one in self.records if one.partition == partition)
            self.records.append(LogRecord(partition, offset, record.key, record.value, record.headers))

    def put(self, *entries: Entry, epoch: int, batch: int | None = None, task: int | None = None) -> None:
        """What a task writes, or another driver."""
        self.append([to_record(entry, topic=TOPIC, epoch=epoch, batch=batch, task=task) for entry in entries])

    def items(self) -> list[Item | None]:
        return list(items_of(self.records))

    def folded(self) -> Folded:
        return fold(self.items())


@dataclass
class MemoryTopic:
    """A driver's end of a log. `broken` makes every write fail; `on_write` is called before each."""

    log: Log = field(default_factory=Log)
    limit_bytes: int = 10_000
    topic: str = TOPIC
    id: str | None = "id-1"
    broken: str = ""
    on_write: Callable[[], None] = lambda: None
    writes: list[list[Record | NullRecord]] = field(default_factory=list)
    _read: int = 0

    def as_topic(self) -> LedgerTopic:
        return cast(LedgerTopic, self)

    def open(self, _start: LedgerStart | None = None) -> None:
        self._read = 0

    def close(self) -> None:
        """There is nothing to close."""

    def partitions(self) -> list[int]:
        return list(range(self.log.partition_count))

    def read(self, *, from_beginning: bool = False) -> Iterator[LogRecord]:
        begin, self._read = 0 if from_beginning else self._read, len(self.log.records)
        yield from self.log.records[begin : self._read]

    def write(self, records: Sequence[Record | NullRecord], *, partitions: Sequence[int | None] = (None,)) -> None:
        self.on_write()
        if self.broken and records:
            raise PipelineError(self.broken)
        if records:
            self.writes.append(list(records))
        for partition in partitions:
            self.log.append(records, partition or 0)
