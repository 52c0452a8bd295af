"""The way of each source event through the updater: published, decided, resolved, applied.

    continuing   a revision that continues the last one: it passes at once
    window       what waits for the whole of `updater.reorder`: imports, deletions, undeletions
    behind       a revision that continues one which still waits when it is published: it waits with it

Events of which no operation came are left out. All times are milliseconds since 1970.
"""

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import orjson

from benchmarks.engine.mutations import Mutation
from benchmarks.engine.topic_log import Appended
from devkit.observe.audit.source_event import SourceEvent

Position = tuple[str, int, int]
Group = Literal["continuing", "window", "behind"]
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class Published:
    """`parent` is the revision before it, None for what is no revision, or an entity's first."""

    position: Position
    parent: int | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class Decided:
    """An operation, appended at `at_ms`. `position` is that of its event."""

    id: str
    entity: str
    seq: int
    from_rev: int | None
    position: Position
    at_ms: int


@dataclass(frozen=True, slots=True)
class Passage:
    """Of one event. `resolved_ms` is the append of its mutation's last chunk; at `applied_ms` the store has it."""

    group: Group
    published_ms: int
    decided_ms: int
    resolved_ms: int
    applied_ms: int

    @property
    def seconds(self) -> float:
        """From its publishing until the store has it."""
        return (self.applied_ms - self.published_ms) / 1000


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Of so many times in seconds."""

    events: int
    p50: float
    p99: float
    most: float

    def figures(self) -> dict[str, float]:
        """As they are kept."""
        return {"events": self.events, "p50_s": self.p50, "p99_s": self.p99, "most_s": self.most}


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events that are published and that the store does not have; `oldest_s` is how long the oldest is."""

    events: int
    oldest_s: float


def read_published(events: Iterable[SourceEvent], sent_ms: Iterable[int]) -> Iterator[Published]:
    """The events of entities, with the time at which each was sent."""
    for event, at_ms in zip(events, sent_ms, strict=True):
        if event.entry.expected.fate == "output":
            yield Published(event.position, orjson.loads(event.value).get("rev_parent_id"), at_ms)


def read_decided(records: Iterable[Appended]) -> Iterator[Decided]:
    """Operations in the order of their append within a partition; one that was written again counts once."""
    seen = set[str]()
    for record in records:
        operation = orjson.loads(record.value or b"")
        if operation["id"] not in seen:
            seen.add(operation["id"])
            ((topic, partition, offset),) = operation["sources"]
            entity, seq, position = operation["entity"], operation["seq"], (topic, partition, offset)
            yield Decided(operation["id"], entity, seq, operation.get("from_rev"), position, record.at_ms)


def join_passages(
    published: Iterable[Published],
    decided: Iterable[Decided],
    mutations: Sequence[Mutation],
    applied_ms: Sequence[int],
) -> dict[Position, Passage]:
    """By the position of the event. Raises KeyError for an operation without its event, or without a mutation."""
    events = {event.position: event for event in published}
    ends: dict[str, tuple[int, int]] = {}
    for mutation, at_ms in zip(mutations, applied_ms, strict=True):
        ends.setdefault(mutation.id, (mutation.at_ms, at_ms))
    passages: dict[Position, Passage] = {}
    before: dict[str, Passage] = {}
    for operation in sorted(decided, key=lambda operation: (operation.entity, operation.seq)):
        event = events[operation.position]
        group = _group(event, operation, before.get(operation.entity))
        passage = Passage(group, event.at_ms, operation.at_ms, *ends[operation.id])
        passages[operation.position] = before[operation.entity] = passage
    return passages


def quantiles(seconds: Sequence[float]) -> Quantiles | None:
    """None of less than two times."""
    if len(seconds) < 2:
        return None
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return Quantiles(len(seconds), round(cuts[49], 2), round(cuts[98], 2), round(max(seconds), 2))


def waiting_at(passages: Iterable[Passage], at_ms: int) -> Waiting:
    """At a moment."""
    ages = [at_ms - passage.published_ms for passage in passages if passage.published_ms <= at_ms < passage.applied_ms]
    return Waiting(len(ages), max(ages, default=0) / 1000)


def mean_waiting(passages: Sequence[Passage], begin_ms: int, end_ms: int) -> float:
    """Events that wait, on average over the time."""
    held_ms = sum(max(0, min(passage.applied_ms, end_ms) - max(passage.published_ms, begin_ms)) for passage in passages)
    return held_ms / max(end_ms - begin_ms, 1)


def rate_between(times_ms: Iterable[int], begin_ms: int, end_ms: int) -> float:
    """Times a second, after the first moment until the second."""
    ordered = sorted(times_ms)
    return (bisect_right(ordered, end_ms) - bisect_right(ordered, begin_ms)) * 1000 / max(end_ms - begin_ms, 1)


def by_group(passages: Iterable[Passage]) -> Mapping[Group, list[Passage]]:
    """Every group has an entry."""
    groups: dict[Group, list[Passage]] = {group: [] for group in GROUPS}
    for passage in passages:
        groups[passage.group].append(passage)
    return groups


def _group(event: Published, operation: Decided, before: Passage | None) -> Group:
    if before is None or operation.from_rev is None or operation.from_rev != event.parent:
        return "window"
    return "behind" if before.group != "continuing" and before.decided_ms > event.at_ms else "continuing"
