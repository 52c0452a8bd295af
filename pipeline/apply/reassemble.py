"""Chunks of one partition back into mutations.

The producer writes the chunks of a mutation one after another. When it is killed between two of them, a prefix stays in
the topic, and later all of the mutation comes again: `0 1 0 1 2`. So chunk 0 always begins anew, and a prefix that is
not continued is dropped and counted.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from pipeline.rdf.chunks import join_chunks
from pipeline.rdf.mutation import MutationChunk
from pipeline.rdf.operation import Op
from pipeline.rdf.revision_diff import TripleDiff


@dataclass(frozen=True, slots=True)
class Mutation:
    """A whole mutation. `next_offset` is the offset behind its last chunk."""

    entity: str
    op: Op
    rev: int
    seq: int
    dt: str
    request_id: str
    diff: TripleDiff
    next_offset: int


@dataclass
class Reassembler:
    """Takes the chunks of one partition in their order. `dropped` counts chunks of prefixes that were not continued,
    `orphaned` those that came without their prefix: other chunks stood between, or the first ones are gone.
    """

    dropped: int = 0
    orphaned: int = 0
    _pending: list[MutationChunk] = field(default_factory=list)

    def add(self, chunk: MutationChunk) -> Mutation | None:
        """The mutation that this chunk completes; None where more have to come."""
        if not self._is_next(chunk):
            self.dropped += len(self._pending)
            self._pending = []
            if chunk.sequence > 0:
                self.orphaned += 1
                return None
        self._pending.append(chunk)
        if len(self._pending) < chunk.length:
            return None
        chunks, self._pending = self._pending, []
        return Mutation(
            entity=chunk.entity,
            op=chunk.op,
            rev=chunk.rev,
            seq=chunk.seq,
            dt=chunk.dt,
            request_id=chunk.request_id,
            diff=join_chunks([part.diff for part in chunks]),
            next_offset=chunk.offset + 1,
        )

    def _is_next(self, chunk: MutationChunk) -> bool:
        if not self._pending:
            return chunk.sequence == 0
        last = self._pending[-1]
        return (chunk.request_id, chunk.sequence, chunk.length) == (last.request_id, last.sequence + 1, last.length)


@dataclass
class RepeatFilter:
    """Which mutations repeat an earlier one of their entity, by `seq`. Remembers the last `max_entities` entities that
    had a mutation; `repeats` counts.
    """

    max_entities: int = 100_000
    repeats: int = 0
    _last_seq: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def is_repeat(self, mutation: Mutation) -> bool:
        """Whether its `seq` is no later than the last one; remembers it otherwise."""
        if mutation.seq <= self._last_seq.get(mutation.entity, 0):
            self.repeats += 1
            return True
        self._last_seq[mutation.entity] = mutation.seq
        self._last_seq.move_to_end(mutation.entity)
        if len(self._last_seq) > self.max_entities:
            self._last_seq.popitem(last=False)
        return False
