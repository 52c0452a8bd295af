"""The entries of the deferral topic, folded from its records alone: by key, the last value decides.

A key is `<topic>/<partition>/<offset>` of a source event; no value means that it is resolved. Keys below `epoch/` and
`command/` are the pipeline's own notes. The fold shares no code with the pipeline's, and reads on from look to look.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Protocol

from kafka.structs import TopicPartition

from devkit.errors import PartError, WaitTimeoutError
from devkit.observe.audit.arrivals import Position
from devkit.stack.topic_reader import answering, connect, ends_of, has_read, places_of
from devkit.waiting import wait_until

_MARKER = b"epoch/"
_NOTES = (_MARKER, b"command/")
_OVER_BUDGET = b"batch_budget"
_DEADLINE = timedelta(seconds=10)
_AT_ONCE = timedelta(0)
_POLL_MS = 50


class Takeovers:
    """How many starts of a program found each deferred event unresolved: it may emit the event once more for each.

    Each start writes a marker, a record with the key `epoch/<n>` or `epoch/<n>/<process>`, to each partition of the
    deferral topic, and takes over the entries that are then in the partition. A null value of an earlier epoch behind
    the marker comes from a process that was given up. A later start does not act on it, and still finds the event.

    Fed with the records of each partition in their order.
    """

    def __init__(self) -> None:
        self._epochs: dict[int, int] = {}
        self._unresolved: defaultdict[int, set[Position]] = defaultdict(set)
        self._counts: Counter[Position] = Counter()

    def add_marker(self, partition: int, key: bytes) -> None:
        """The record of a start. The other notes are ignored."""
        number = key.removeprefix(_MARKER).split(b"/")[0]
        if key.startswith(_MARKER) and number.isdigit():
            self._epochs[partition] = max(int(number), self._epochs.get(partition, 0))
            self._counts.update(self._unresolved[partition])

    def add_entry(self, partition: int, position: Position) -> None:
        """The event is deferred."""
        self._unresolved[partition].add(position)

    def add_resolved(self, partition: int, position: Position, epoch: bytes | None) -> None:
        """A process of this epoch has resolved the event; None where the record does not name the epoch."""
        if epoch is None or not epoch.isdigit() or int(epoch) >= self._epochs.get(partition, 0):
            self._unresolved[partition].discard(position)

    def count(self, position: Position) -> int | None:
        """How many starts found the event unresolved; None where the program writes no markers."""
        return self._counts[position] if self._epochs else None


class DeferredEntries:
    """The fold itself. `unreadable` are keys that name no source event; `over_budget` are events that were deferred as
    their batch was over its budget.
    """

    def __init__(self) -> None:
        self._now: set[Position] = set()
        self._ever: set[Position] = set()
        self._over_budget: set[Position] = set()
        self._entry_of: dict[Position, Position] = {}
        self._unreadable: dict[bytes, None] = {}
        self._left_out: frozenset[Position] = frozenset()
        self._takeovers = Takeovers()

    def leave_out(self, positions: Iterable[Position]) -> None:
        """Do not count these events from now on."""
        self._left_out = frozenset(positions)

    def take(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Mapping[str, bytes | None] = MappingProxyType({}),
        *,
        partition: int = 0,
    ) -> None:
        """The next record of a partition."""
        if key is not None and key.startswith(_NOTES):
            self._takeovers.add_marker(partition, key)
            return
        position = _position(key)
        if position is None:
            self._unreadable[key or b""] = None
        elif position in self._left_out:
            pass
        elif value is None:
            self._now.discard(position)
            self._takeovers.add_resolved(partition, position, headers.get("epoch"))
        else:
            self._now.add(position)
            self._entry_of |= dict.fromkeys(_counted(headers.get("counted")), position)
            self._ever.add(position)
            self._takeovers.add_entry(partition, position)
            if headers.get("cause") == _OVER_BUDGET:
                self._over_budget.add(position)

    @property
    def now(self) -> frozenset[Position]:
        """Source positions of the events deferred now: the last record of each has a value."""
        return frozenset(self._now)

    @property
    def held(self) -> frozenset[Position]:
        """`now`, and the events that its entries stand for: a count stands for several events."""
        return self.now | {position for position, entry in self._entry_of.items() if entry in self._now}

    @property
    def ever(self) -> frozenset[Position]:
        """Source positions that were deferred at any time, those resolved since among them."""
        return frozenset(self._ever)

    @property
    def over_budget(self) -> frozenset[Position]:
        """The part of `ever` that was deferred at least once with the cause `batch_budget`."""
        return frozenset(self._over_budget)

    def takeovers(self, position: Position) -> int | None:
        """How many starts of the program found the event unresolved; None where that is not known."""
        entry = position if position in self._ever else self._entry_of.get(position)
        return 0 if entry is None else self._takeovers.count(entry)

    @property
    def unreadable(self) -> tuple[bytes, ...]:
        """Each key once, in the order of appearance; a record without a key counts as an empty one."""
        return tuple(self._unreadable)

    def __len__(self) -> int:
        return len(self._now)


class Deferrals(Protocol):
    """Reads the deferred events of a program."""

    @property
    def entries(self) -> DeferredEntries:
        """The same object each time, as of the last `catch_up`; empty before the first."""

    def catch_up(self) -> int:
        """Reads up to the topic's present end; returns the number of events deferred now. Raises StackError."""

    def close(self) -> None:
        """After it `entries` can still be read, but `catch_up` may not be called."""


class NoDeferrals:
    """For a pipeline that defers nothing."""

    def __init__(self) -> None:
        self.entries = DeferredEntries()

    def catch_up(self) -> int:
        """Always 0; no broker is asked."""
        return 0

    def close(self) -> None:
        """There is nothing to close."""


class DeferralTopic:
    """A topic of deferred events. Raises StackError when there is no broker at `bootstrap`."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self.entries = DeferredEntries()
        self._places: list[TopicPartition] = []
        # The broker answers one request of a connection at a time; the next look must not wait for a fetch.
        self._consumer = connect(bootstrap, fetch_max_wait_ms=_POLL_MS)

    def catch_up(self) -> int:
        """Read up to the present ends; the number of events deferred now. Raises StackError."""
        try:
            with answering(f"{self._topic} could not be read"):
                ends = self._ends()
                wait_until(
                    lambda: self._read_towards(ends),
                    what=f"{self._topic} to be read to its end",
                    deadline=_DEADLINE,
                    interval=_AT_ONCE,
                )
        except WaitTimeoutError as error:
            raise PartError(str(error), "kafka") from error
        return len(self.entries)

    def close(self) -> None:
        """Commits nothing, as the consumer has no group."""
        self._consumer.close()

    def _ends(self) -> dict[TopicPartition, int]:
        if not self._places:
            self._places = places_of(self._consumer, self._topic)
            if self._places:
                self._consumer.assign(self._places)
                self._consumer.seek_to_beginning(*self._places)
        return ends_of(self._consumer, self._places) if self._places else {}

    def _read_towards(self, ends: dict[TopicPartition, int]) -> bool:
        """Whether all of it is read; else some more of it is."""
        if has_read(self._consumer, ends):
            return True
        for records in self._consumer.poll(timeout_ms=_POLL_MS).values():
            for record in records:
                self.entries.take(record.key, record.value, dict(record.headers), partition=record.partition)
        return False


def _counted(text: bytes | None) -> list[Position]:
    """Offsets by topic and partition."""
    by_topic = {} if text is None else json.loads(text)
    return [
        (topic, int(partition), offset)
        for topic, partitions in by_topic.items()
        for partition, offsets in partitions.items()
        for offset in offsets
    ]


def _position(key: bytes | None) -> Position | None:
    try:
        topic, partition, offset = (key or b"").decode().split("/")
        return topic, int(partition), int(offset)
    except ValueError:
        return None
