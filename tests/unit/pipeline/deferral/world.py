"""The environment of the deferral protocol, as a model: source, topics, Spark's two logs, writes in flight, time.

It decides nothing: `driver.Driver` runs the real ledger, fold, lanes and wire format in it. Anything may happen between
two steps, and after each the properties hold, or `Violation` is raised:

P0  the ledger is the fold of its topic, whenever nobody is in the middle of something
P1  what first comes out of a page, in output or error topic, is a prefix of the source's order
P2  what is committed is in output, error or the fold of the ledger's topic, or is filtered
P3  without a crash, or a worker that is lost, nothing comes out twice
P4  when all is drained, the fold is empty
P5  the main lane emits nothing at or above the page's block; a page has one holder
P7  after a crash, at most what was in a batch then, or unresolved in a slow round, comes out again, once for each
    crash; after the loss of a worker, what its attempt has emitted
P8  the ledger never holds more than its bound and the rows of one batch, however often drivers restart
P9  an outage that is known costs no try: no lane gets an event of its wiki, and what the batch that found it out tried
    there has as many tries as before

What a crash leaves of the records that were on their way: of those in one partition of a topic a prefix of what was
sent, and any combination of partitions. The model allows more: a page's records for one topic are a stream of their
own, and so is each record of the ledger's topic; of each stream a prefix lands. That rests on a producer that gives up
on no record while its process lives, and sends none behind one that the broker refuses; `give_up` is what another one
would do.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeVar
from uuid import UUID

from pipeline.deferral.entry import Page
from pipeline.deferral.fold import Folded, fold
from pipeline.deferral.lane import Destination
from pipeline.deferral.wire import EntryItem, Item, NullRecord, Place, command_record, epoch_marker, parse
from pipeline.records.record import Headers, Position, Record, SourcePartition

T = TypeVar("T")
Outcome = Literal["ok", "slow", "final"]
TOPIC, D = "source", "deferred"
D_PARTITIONS = (0, 1)
PAGES: tuple[Page, ...] = ((TOPIC, 0, b"a"), (TOPIC, 0, b"b"), (TOPIC, 1, b"a"))


def wiki_of(page: Page) -> str:
    """Each page's wiki; that of its first letter."""
    assert page[2] is not None
    return page[2].decode()


class Violation(AssertionError):  # noqa: N818 — of a property, not an error of the code under test
    """A property does not hold; the message names it."""


class Chooser(Protocol):
    def pick(self, options: Sequence[T]) -> T: ...


@dataclass(frozen=True)
class Event:
    position: Position
    page: Page
    filtered: bool

    @property
    def value(self) -> bytes:
        return b"event " + str(self.position).encode()


@dataclass(frozen=True)
class Stored:
    """A record in a partition of the ledger's topic."""

    partition: int
    offset: int
    key: bytes
    value: bytes | None
    headers: Headers

    @cached_property
    def item(self) -> Item | None:
        return parse(self.key, self.value, self.headers, partition=self.partition, offset=self.offset)


@dataclass(eq=False)
class Write:
    """A record on its way: writes of the same `stream` land in their order, all others in any."""

    stream: Hashable
    payload: tuple[Position, Destination] | tuple[Record | NullRecord, int]
    landed: bool = False
    # What its producer sends when it is acked.
    then: "Write | None" = None

    @property
    def kind(self) -> Literal["emission", "ledger"]:
        return "emission" if isinstance(self.payload[0], Position) else "ledger"


@dataclass
class World:
    outcomes: Callable[[Position], Outcome]
    source: dict[int, list[Event]] = field(default_factory=lambda: {0: [], 1: []})
    offset_log: list[dict[int, int]] = field(default_factory=list)
    commits: int = 0
    emitted: list[tuple[Position, Destination]] = field(default_factory=list)
    stored: dict[int, list[Stored]] = field(default_factory=lambda: {number: [] for number in D_PARTITIONS})
    ends: dict[int, int] = field(default_factory=lambda: dict.fromkeys(D_PARTITIONS, 0))
    flight: list[Write] = field(default_factory=list)
    now_ms: int = 1_000
    # How many crashes met an event in a batch or a slow round.
    at_risk: Counter[Position] = field(default_factory=Counter)
    # How many attempts emitted an event that Spark has taken for lost.
    again: Counter[Position] = field(default_factory=Counter)
    drivers: int = 0
    attempts: int = 0
    split_brain: bool = False
    commands: int = 0
    # What an attempt of a round resolved that Spark has taken for lost. It is out; the driver may process it again.
    resolved_by_lost: set[Position] = field(default_factory=set)
    times: Counter[Position] = field(default_factory=Counter)
    heads: dict[Page, int] = field(default_factory=dict)
    # Wikis of which every request fails.
    down: set[str] = field(default_factory=set)

    def produce(self, page: Page, *, filtered: bool = False) -> Event:
        """A new event in the source."""
        topic, partition, _key = page
        event = Event(Position(topic, partition, len(self.source[partition])), page, filtered)
        self.source[partition].append(event)
        return event

    def event(self, position: Position) -> Event:
        return self.source[position.partition][position.offset]

    def of_page(self, page: Page) -> list[Event]:
        return [event for event in self.source[page[1]] if event.page == page]

    def committed_ends(self) -> dict[SourcePartition, int]:
        """The next offset of each partition by the last committed batch; none before the first."""
        last = self.offset_log[self.commits - 1] if self.commits else {}
        return {SourcePartition(TOPIC, partition): end for partition, end in last.items()}

    def rows(self, number: int) -> list[Event]:
        """The new rows of a batch, as its entry in Spark's offset log says."""
        before = self.offset_log[number - 1] if number else dict.fromkeys(self.source, 0)
        after = self.offset_log[number]
        return [event for part in self.source for event in self.source[part][before[part] : after[part]]]

    def unread(self) -> bool:
        planned = self.offset_log[-1] if self.offset_log else dict.fromkeys(self.source, 0)
        return any(len(events) > planned[part] for part, events in self.source.items())

    def attempt(self) -> int:
        """The number of a new attempt of a task."""
        self.attempts += 1
        return self.attempts

    def last_items(self) -> list[Item | None]:
        """The last record of each key in the ledger's topic."""
        last = {item.place: item for item in self.read({}) if item}
        by_key = {(part, record.key): (part, record.offset) for part, of in self.stored.items() for record in of}
        return [last[place] for part, offset in by_key.values() if (place := Place(part, offset)) in last]

    def send(self, writes: Iterable[Write]) -> list[Write]:
        sent = list(writes)
        self.flight += sent
        return sent

    def markers(self, epoch: int, *, process: int) -> list[Write]:
        """Those by which the driver of this number takes the ledger over."""
        record = epoch_marker(epoch, topic=D, process=UUID(int=process))
        return [self.to_ledger(record, partition) for partition in D_PARTITIONS]

    def to_ledger(self, record: Record | NullRecord, partition: int | None = None) -> Write:
        """A write to the ledger's topic; the partition follows from the key unless it is given."""
        if partition is None:
            partition = sum(record.key or b"") % len(D_PARTITIONS)
        return Write(object(), (record, partition))

    def positions_of(self, writes: Iterable[Write]) -> list[Position]:
        """Those of entries that are on their way to the ledger's topic."""
        items = [
            parse(record.key, record.value, record.headers, partition=0, offset=0)
            for write in writes
            if not isinstance(record := write.payload[0], Position)
        ]
        return [item.entry.position for item in items if isinstance(item, EntryItem)]

    def landable(self) -> list[Write]:
        first: dict[Hashable, Write] = {}
        for write in self.flight:
            first.setdefault(write.stream, write)
        return list(first.values())

    def land(self, write: Write) -> None:
        """One write arrives, and is acked."""
        self.flight.remove(write)
        write.landed = True
        first, second = write.payload
        if isinstance(first, Position):
            assert isinstance(second, str)
            self._emit(first, second)
        else:
            assert isinstance(second, int)
            self.store(first, second)
        if write.then:
            self.flight.append(write.then)

    def lose(self, write: Write) -> None:
        """A write never arrives, nor does anything behind it in its stream: only after a crash."""
        self.flight = [other for other in self.flight if other.stream != write.stream]

    def give_up(self, write: Write) -> None:
        """A write never arrives, and those behind it in its stream do."""
        self.flight.remove(write)

    def store(self, record: Record | NullRecord, partition: int) -> None:
        assert record.key is not None
        stored = Stored(partition, self.ends[partition], record.key, record.value, record.headers)
        self.stored[partition].append(stored)
        self.ends[partition] += 1
        self.check_committed()

    def operator(self, action: Literal["retry", "drop"], position: Position) -> None:
        """Somebody writes a command, which goes to whatever partition its key says."""
        self.commands += 1
        record = command_record(f"c{self.commands}", action, position, topic=D)
        self.store(record, self.commands % len(D_PARTITIONS))

    def read(self, since: dict[int, int]) -> list[Item | None]:
        """The ledger's topic from these offsets on, one partition after the other."""
        return [
            record.item
            for part, records in self.stored.items()
            for record in records
            if record.offset >= since.get(part, 0)
        ]

    def state_of_topic(self) -> object:
        return self.ends.copy(), {part: len(records) for part, records in self.stored.items()}

    def folded(self) -> Folded:
        return fold(self.read({}))

    def compact(self, upto: dict[int, int]) -> None:
        """What Kafka may do to records below these offsets: only the last of each key stays, if it is not null."""
        for part, records in self.stored.items():
            last = {record.key: record.offset for record in records if record.offset < upto.get(part, 0)}
            self.stored[part] = [
                record
                for record in records
                if record.offset >= upto.get(part, 0)
                or (record.offset == last[record.key] and record.value is not None)
            ]
        self.check_committed()

    def commit(self) -> None:
        self.commits += 1
        self.check_committed()

    def committed(self) -> list[Event]:
        return [event for number in range(self.commits) for event in self.rows(number)]

    def check_committed(self) -> None:
        missing = [e.position for e in self.committed() if not e.filtered and not self.times[e.position]]
        if not missing:
            return
        kept = self.folded().deferred
        if lost := [position for position in missing if position not in kept]:
            raise Violation(f"P2: {lost[0]} is committed and nowhere")

    def check_drained(self) -> None:
        """P4, and that everything came out."""
        for events in self.source.values():
            for event in events:
                if not event.filtered and not self.times[event.position]:
                    raise Violation(f"P6: {event.position} never came out")
        if entries := self.folded().entries:
            raise Violation(f"P4: all is drained, and the topic still has {[str(position) for position in entries]}")

    def _emit(self, position: Position, destination: Destination) -> None:
        event = self.event(position)
        self.emitted.append((position, destination))
        self.times[position] += 1
        if self.times[position] == 1:
            expected = [e for e in self.of_page(event.page) if not e.filtered]
            head = self.heads.get(event.page, 0)
            if expected[head] != event:
                raise Violation(f"P1: {position} comes out before {expected[head].position}")
            self.heads[event.page] = head + 1
        allowed = (self.drivers if self.split_brain else 1 + self.at_risk[position]) + self.again[position]
        if self.times[position] > allowed:
            name = "P7" if self.drivers > 1 else "P3"
            raise Violation(f"{name}: {position} comes out {self.times[position]} times, {allowed} may be")
