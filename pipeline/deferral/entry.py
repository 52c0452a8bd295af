"""A deferred event: the source record as it came, and how far it got.

`stuck` was tried and did not finish; `waiting` stands behind an earlier event of its page and was not tried. A page is
its events of one key in one source partition, and is emitted in the order of their offsets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.records.record import Headers, Position

Page = tuple[str, int, bytes | None]
Kind = Literal["stuck", "waiting"]
Cause = Literal["batch_budget", "too_large"]

# What an entry takes beside key and value: its headers in the topic, its objects in the driver, generously.
OVERHEAD_BYTES = 512
COUNTED_BYTES = 128
"""What each event takes that an entry stands for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One deferred event.

    `appended_us` is the time of the source record, `not_before_ms` when it may be tried again (0: at once), both since
    the epoch. `attempt` counts the tries that were made so far, the one of the main lane included. A `dropped` entry
    is given up: the lane whose turn it is makes an error event of it, without a fetch. `reason` is for people; `cause`
    is what an operator decides by: its batch was over its budget, or its record was too large for the ledger. `wiki_id`
    is the wiki that was asked for it, where one was; `headers` are those of the source record that are passed on.
    `counted` are the events that it stands for, as those of a `SourceMessage`.
    """

    position: Position
    key: bytes | None
    value: bytes | None
    appended_us: int
    kind: Kind
    attempt: int
    not_before_ms: int
    reason: str
    dropped: bool = False
    cause: Cause | None = None
    wiki_id: str | None = None
    headers: Headers = ()
    counted: tuple[Position, ...] | None = None

    @property
    def page(self) -> Page:
        """The page whose order it keeps: topic, partition and key of the source record."""
        return (self.position.topic, self.position.partition, self.key)

    @property
    def size(self) -> int:
        """Bytes that it counts in the ledger."""
        headers = sum(len(name) + len(value) for name, value in self.headers)
        counted = COUNTED_BYTES * len(self.counted or ())
        return len(self.key or b"") + len(self.value or b"") + headers + counted + OVERHEAD_BYTES


def rests(not_before_ms: int, now_ms: int, longest_ms: int) -> bool:
    """Whether an entry is not to be tried yet.

    No rest is longer than `longest_ms`: one that seems so was written before the time of day was set back, or by a
    machine whose clock is wrong, and is over.
    """
    return 0 < not_before_ms - now_ms <= longest_ms


def order(position: Position) -> tuple[str, int, int]:
    """Sorts positions: by topic, partition and offset. Within a page that is the order in which events are emitted."""
    return (position.topic, position.partition, position.offset)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The event is emitted, or emits nothing. `gave_up`: as an error event, since its last try met this."""

    position: Position
    gave_up: str = ""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The entry is to be written again, of the wiki that was asked. The driver does: a task that Spark gave up on could
    do it too late.
    """

    position: Position
    attempt: int
    not_before_ms: int
    reason: str
    wiki_id: str | None = None


Fact = Resolved | Rewritten
"""What a slow round's task tells its driver of an entry."""


def entries_after(entries: Sequence[Entry], facts: Iterable[Fact]) -> tuple[list[Position], list[Entry]]:
    """Positions that are resolved, and entries as they are to be written again; what no fact names is unchanged."""
    before = {entry.position: entry for entry in entries}
    resolved: list[Position] = []
    rewritten: list[Entry] = []
    for fact in facts:
        if isinstance(fact, Resolved):
            resolved.append(fact.position)
            continue
        rewritten.append(
            replace(
                before[fact.position],
                kind="stuck",
                attempt=fact.attempt,
                not_before_ms=fact.not_before_ms,
                reason=fact.reason,
                cause=None,
                wiki_id=fact.wiki_id,
            )
        )
    return resolved, rewritten
