"""Chunks of one partition back into mutations.

Each task of the producer writes the chunks of a mutation one after another, and chunks of other tasks may stand between
them. When a task is killed between two chunks, a prefix stays in the topic, and later all of the mutation comes again:
`0 1 0 1 2`. So prefixes are kept by their request id, chunk 0 always begins anew, and a prefix that is not continued by
the next chunk is dropped and counted.

A prefix that is never continued, as the mutation did not come again, would hold back for ever the offset at which the
next start has to read: so the number of open prefixes is bounded, and how far behind the last chunk of one may be.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from pipeline.rdf.chunks import join_chunks
from pipeline.rdf.mutation import MutationChunk
from pipeline.rdf.operation import Op
from pipeline.rdf.revision_diff import TripleDiff

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


@dataclass
class Reassembler:
    """Takes the chunks of one partition in their order. `dropped` counts chunks of prefixes that were not continued,
    `orphaned` those that came without their prefix, as the first ones are gone or were dropped.
    """

    max_open: int = MAX_OPEN
    max_distance: int = MAX_DISTANCE
    dropped: int = 0
    orphaned: int = 0
    _open: dict[str, list[MutationChunk]] = field(default_factory=dict)
    """By request id, in the order of their first chunks."""

    def add(self, chunk: MutationChunk) -> Mutation | None:
        """The mutation that this chunk completes; None where more have to come."""
        if not self._is_next(chunk):
            self._drop(chunk.request_id)
            if chunk.sequence > 0:
                self.orphaned += 1
                return None
        chunks = self._open.setdefault(chunk.request_id, [])
        chunks.append(chunk)
        if len(chunks) < chunk.length:
            self._keep_bounds(chunk.offset)
            return None
        del self._open[chunk.request_id]
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

    def restart_offset(self, offset: int) -> int:
        """Where to read from after a restart, when all mutations that ended before `offset` are applied: it, or the
        first chunk of an open prefix.
        """
        first = next(iter(self._open.values()), None)
        return offset if first is None else min(offset, first[0].offset)

    def _is_next(self, chunk: MutationChunk) -> bool:
        chunks = self._open.get(chunk.request_id)
        if chunks is None:
            return chunk.sequence == 0
        return (chunk.sequence, chunk.length) == (chunks[-1].sequence + 1, chunks[-1].length)

    def _keep_bounds(self, offset: int) -> None:
        stale = [
            request_id for request_id, chunks in self._open.items() if offset - chunks[-1].offset > self.max_distance
        ]
        if len(self._open) - len(stale) > self.max_open:
            stale.append(next(request_id for request_id in self._open if request_id not in stale))
        for request_id in stale:
            self._drop(request_id)

    def _drop(self, request_id: str) -> None:
        self.dropped += len(self._open.pop(request_id, []))


@dataclass(frozen=True, slots=True)
class _LastMutation:
    seq: int
    rev: int
    request_id: str


@dataclass
class RepeatFilter:
    """Which mutations repeat an earlier one of their entity: the last one again, or one with an earlier `seq` and an
    earlier revision. The revision counts, as `seq` begins at 1 again where the state that counts it is made anew.

    Remembers the last `max_entities` entities that had a mutation; `repeats` counts.
    """

    max_entities: int = 100_000
    repeats: int = 0
    _last: OrderedDict[str, _LastMutation] = field(default_factory=OrderedDict)

    def is_repeat(self, mutation: Mutation) -> bool:
        """Whether it is a repeat; remembers it otherwise. What is taken for none by mistake does no harm, as those that
        came behind it come again as well.
        """
        last = self._last.get(mutation.entity)
        if last is not None and (
            mutation.request_id == last.request_id or (mutation.seq < last.seq and mutation.rev < last.rev)
        ):
            self.repeats += 1
            return True
        self._last[mutation.entity] = _LastMutation(mutation.seq, mutation.rev, mutation.request_id)
        self._last.move_to_end(mutation.entity)
        if len(self._last) > self.max_entities:
            self._last.popitem(last=False)
        return False
