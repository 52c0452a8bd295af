"""Chunks of one partition back into mutations.

Each task of the producer writes the chunks of a mutation one after another, and chunks of other tasks may stand between
them. When a task is killed between two chunks, a prefix stays in the topic, and later all of the mutation comes again:
`0 1 0 1 2`. Where the killed one still writes, the two interleave: `0 0 1 1 2 2`. So prefixes are kept by their request
id, and a chunk is one of four:

    the next one of its prefix         it continues it
    one that the prefix has already    it is dropped and counted
    another one in the place of that   it takes that place, as the wiki may answer otherwise the second time; what
                                       came behind it is dropped and counted
    one behind the next one            it is without its prefix, unless its mutation was just completed

Of attempts that interleave and differ at the same length, chunks may be mixed: nothing says whose a chunk is.

A prefix that is never continued, as the mutation did not come again, would hold back for ever the offset at which the
next start has to read: so the number of open prefixes is bounded, and how far behind the last chunk of one may be, in
offsets and by the records' times. What continues it later is without its prefix.
"""

import math
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipeline.rdf.chunks import join_chunks
from pipeline.rdf.mutation import MutationChunk
from pipeline.rdf.operation import Op
from pipeline.rdf.revision_diff import TripleDiff

NO_TIME = -1
MAX_OPEN = 1_000
"""More than a producer has tasks at once."""
MAX_DISTANCE = 100_000
"""In offsets: more than all tasks write while one of them writes two chunks."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A whole mutation. `first_offset` is that of its first chunk, `next_offset` the one behind its last chunk."""

    entity: str
    op: Op
    rev: int
    seq: int
    dt: str
    request_id: str
    diff: TripleDiff
    first_offset: int
    next_offset: int


@dataclass(slots=True)
class _Prefix:
    """`last_offset` and `last_ms` are those of the last chunk of the mutation, whether or not it was a new one."""

    chunks: list[MutationChunk]
    last_offset: int
    last_ms: int


@dataclass
class Reassembler:
    """Takes the chunks of one partition in their order. `dropped` counts chunks of prefixes that were not continued
    and those that came again; `orphaned` those without their prefix, as its first ones are gone or were dropped.
    """

    max_open: int = MAX_OPEN
    max_distance: int = MAX_DISTANCE
    max_age_ms: float = math.inf
    dropped: int = 0
    orphaned: int = 0
    _open: dict[str, _Prefix] = field(default_factory=dict)
    """By request id, in the order of their first chunks."""
    _completed: OrderedDict[str, None] = field(default_factory=OrderedDict)
    """Request ids of the last mutations that had several chunks."""

    def add(self, chunk: MutationChunk, at_ms: int = NO_TIME) -> Mutation | None:
        """The mutation that this chunk completes; None where more have to come. `at_ms` is the record's time."""
        self._drop(
            request_id
            for request_id, prefix in self._open.items()
            if chunk.offset - prefix.last_offset > self.max_distance or self._is_too_old(prefix, at_ms)
        )
        prefix = self._open.get(chunk.request_id)
        chunks = [] if prefix is None else prefix.chunks
        is_stray = chunk.sequence > len(chunks) or (chunk.sequence > 0 and chunk.length != chunks[0].length)
        if is_stray and chunk.request_id in self._completed:
            self.dropped += 1
            return None
        if is_stray:
            self.orphaned += 1
            return None
        if prefix is not None:
            prefix.last_offset, prefix.last_ms = chunk.offset, at_ms
        if chunk.sequence < len(chunks):
            if replace(chunk, offset=chunks[chunk.sequence].offset) == chunks[chunk.sequence]:
                self.dropped += 1
                return None
            self.dropped += len(chunks) - chunk.sequence
            del chunks[chunk.sequence :]
        chunks.append(chunk)
        if chunk.sequence == 0:
            self._open.pop(chunk.request_id, None)
            self._open[chunk.request_id] = _Prefix(chunks, chunk.offset, at_ms)
        if len(chunks) < chunk.length:
            if len(self._open) > self.max_open:
                self._drop([next(iter(self._open))])
            return None
        self._complete(chunk.request_id, has_several=chunk.length > 1)
        return Mutation(
            entity=chunk.entity,
            op=chunk.op,
            rev=chunk.rev,
            seq=chunk.seq,
            dt=chunk.dt,
            request_id=chunk.request_id,
            diff=join_chunks([part.diff for part in chunks]),
            first_offset=chunks[0].offset,
            next_offset=chunk.offset + 1,
        )

    def drop_older(self, now_ms: float) -> None:
        """Drop the prefixes that are too old where nothing more comes, and a record of now would have this time."""
        self._drop(request_id for request_id, prefix in self._open.items() if self._is_too_old(prefix, now_ms))

    def restart_offset(self, offset: int) -> int:
        """Where to read from after a restart, when all mutations that ended before `offset` are applied: it, or the
        first chunk of an open prefix.
        """
        first = next(iter(self._open.values()), None)
        return offset if first is None else min(offset, first.chunks[0].offset)

    def _complete(self, request_id: str, *, has_several: bool) -> None:
        del self._open[request_id]
        if has_several:
            self._completed[request_id] = None
            self._completed.move_to_end(request_id)
            if len(self._completed) > self.max_open:
                self._completed.popitem(last=False)

    def _is_too_old(self, prefix: _Prefix, now_ms: float) -> bool:
        """By this record's time, not the latest: one of a wrong clock in the future would drop all that come later."""
        return prefix.last_ms >= 0 and now_ms - prefix.last_ms > self.max_age_ms

    def _drop(self, request_ids: Iterable[str]) -> None:
        for request_id in list(request_ids):
            self.dropped += len(self._open.pop(request_id).chunks)


@dataclass(frozen=True, slots=True)
class _LastMutation:
    seq: int
    rev: int
    dt: str
    request_id: str


@dataclass
class RepeatFilter:
    """Which mutations repeat an earlier one of their entity: the last one again, or one with an earlier `seq` that is
    not later by revision, nor by time within a revision, as a delete has the revision of what it deletes. These count,
    as `seq` begins at 1 again where the state that counts it is made anew. A delete of a later time is no repeat, as
    one of a reconciliation may have any revision.

    Remembers the last `max_entities` entities that had a mutation; `repeats` counts.
    """

    max_entities: int = 100_000
    repeats: int = 0
    _last: OrderedDict[str, _LastMutation] = field(default_factory=OrderedDict)

    def is_repeat(self, mutation: Mutation) -> bool:
        """Whether it is a repeat of one that is remembered."""
        last = self._last.get(mutation.entity)
        is_repeat = last is not None and (mutation.request_id == last.request_id or _is_earlier(mutation, last))
        self.repeats += is_repeat
        return is_repeat

    def remembers(self, entity: str) -> bool:
        """Whether it knows the last mutation of the entity."""
        return entity in self._last

    def remember(self, mutation: Mutation) -> None:
        """It is the last one of its entity."""
        self._last[mutation.entity] = _LastMutation(mutation.seq, mutation.rev, mutation.dt, mutation.request_id)
        self._last.move_to_end(mutation.entity)
        if len(self._last) > self.max_entities:
            self._last.popitem(last=False)

    def forget(self, entity: str) -> None:
        """Its last mutation was not applied."""
        self._last.pop(entity, None)


def _is_earlier(mutation: Mutation, last: _LastMutation) -> bool:
    if mutation.seq >= last.seq or mutation.rev > last.rev:
        return False
    if mutation.rev < last.rev and mutation.op != "delete":
        return True
    return _moment(mutation.dt) <= _moment(last.dt)


def _moment(text: str) -> datetime:
    """Of an RFC 3339 time. A leap second, which cannot be read, is the second before it."""
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return datetime.fromisoformat(text.replace(":60", ":59", 1))
