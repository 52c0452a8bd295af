"""The mutations in a topic's log: which are whole, how large they are, and how many of them a request takes."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from benchmarks.engine.topic_log import Appended, TopicLog
from pipeline.apply.accumulate import DELETE_WEIGHT
from pipeline.config.apply_config import ONE_MUTATION

_PREFIX_BYTES = 2_048
_LAST_CHUNK = re.compile(rb'"request_id":"([0-9a-f-]{36})".*"sequence":(\d+),"sequence_length":(\d+)')
_PARTS = ("rdf_added_data", "rdf_deleted_data", "rdf_linked_shared_data", "rdf_unlinked_shared_data")


@dataclass(frozen=True, slots=True)
class Mutation:
    """`triples` are those of all its chunks; `next_offset` is the one behind the last chunk, appended at `at_ms`. `id`
    is that of its operation, whose kind is `operation`.
    """

    operation: str
    triples: int
    chunks: int
    next_offset: int
    at_ms: int
    id: str

    @property
    def weight(self) -> int:
        """As `apply` counts it against `apply.batch_triples`."""
        return self.triples + DELETE_WEIGHT * (self.operation in ("delete", "reconcile"))


class WholeMutations:
    """Counts the mutations of a topic as they are appended. One that was written again counts once."""

    def __init__(self, log: TopicLog) -> None:
        self._log, self._ids, self._seen = log, set[bytes](), 0

    def look(self) -> int:
        """Those that are whole by now."""
        self._log.look()
        for record in self._log.records(value_bytes=_PREFIX_BYTES, since=self._seen):
            match = _LAST_CHUNK.search(record.value or b"")
            if match and int(match[2]) + 1 == int(match[3]):
                self._ids.add(match[1])
        self._seen = len(self._log.batches)
        return len(self._ids)


def read_mutations(records: Iterable[Appended]) -> Iterator[Mutation]:
    """Those of one partition, in the order in which they became whole. The first chunk begins a mutation anew."""
    triples = defaultdict[str, list[int]](list)
    for record in records:
        chunk = orjson.loads(record.value or b"")
        id_ = chunk["meta"]["request_id"]
        counts = triples[id_]
        if chunk["sequence"] == 0:
            counts.clear()
        counts.append(sum(chunk[part]["data"].count("\n") for part in _PARTS if part in chunk))
        if len(counts) == chunk["sequence_length"]:
            yield Mutation(chunk["operation"], sum(counts), len(counts), record.offset + 1, record.at_ms, id_)


def count_requests(weights: Iterable[int], bound: int) -> int:
    """How many requests mutations of these weights take, of which none weighs more than `bound` unless it has one."""
    requests, room = 0, 0
    for weight in weights:
        if weight > room or not requests:
            requests, room = requests + 1, bound
        room -= weight
    return requests


def bound_for(weights: Sequence[int], mutations: int) -> int:
    """The least `apply.batch_triples` with which a request takes so many mutations on average."""
    if mutations == 1:
        return ONE_MUTATION
    most = max(1, len(weights) // mutations)
    bounds = range(ONE_MUTATION + 1, sum(weights) + 1)
    return bounds.start + bisect_left(bounds, -most, key=lambda bound: -count_requests(weights, bound))


def applied_at(mutations: Iterable[Mutation], looks: Sequence[tuple[int, int]]) -> list[int]:
    """When each mutation was seen to be applied, of looks at the time (ms) and the next offset, both ascending."""
    offsets = [offset for _, offset in looks]
    return [looks[bisect_left(offsets, mutation.next_offset)][0] for mutation in mutations]
