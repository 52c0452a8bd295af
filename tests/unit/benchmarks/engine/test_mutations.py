"""What is read of a mutation topic and of the broker's files, and which bound gives how many mutations a request."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine.mutations import (
    Mutation,
    WholeMutations,
    applied_at,
    bound_for,
    count_requests,
    read_mutations,
)
from benchmarks.engine.topic_log import Appended, TopicLog
from pipeline.apply.accumulate import MutationBatch
from pipeline.apply.reassemble import Mutation as AppliedMutation
from pipeline.rdf.mutation import mutation_records
from pipeline.rdf.operation import Op, Operation, operation_id
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.record import Position

WEIGHTS = st.lists(st.integers(0, 300), min_size=1, max_size=40)


def triples(entity: str, count: int) -> tuple[str, ...]:
    return tuple(f'<http://e/{entity}> <http://e/p> "{number}" .' for number in range(count))


def chunks(entity: str, op: Op, count: int) -> list[bytes]:
    """The values of a mutation that adds so many triples, cut into chunks of four."""
    operation = Operation(entity, op, 2, None, "2026-03-02T09:00:00Z", 1, (Position("source", 0, 1),))
    diff = TripleDiff(added=triples(entity, count))
    characters = sum(len(triple) + 1 for triple in triples(entity, 4))
    made = mutation_records(operation, diff, topic="mutation", domain="e.org", characters=characters)
    return [chunk.record.value for chunk in made]


def appended(values: Sequence[bytes]) -> list[Appended]:
    return [Appended(0, offset, 1_000 + offset, b"", value) for offset, value in enumerate(values)]


class Log:
    """A topic's log that has a batch more at each look."""

    def __init__(self, batches: Sequence[Sequence[bytes]]) -> None:
        self._coming, self.batches = iter(batches), list[Sequence[bytes]]()

    def look(self) -> None:
        self.batches.extend([next(self._coming)])

    def records(self, *, value_bytes: int, since: int) -> Iterator[Appended]:
        values = [value[:value_bytes] for batch in self.batches[since:] for value in batch]
        return iter(appended(values))


def test_reads_mutations_whose_chunks_are_mixed_and_one_that_begins_anew() -> None:
    first, second, deleted = chunks("Q1", "import", 10), chunks("Q2", "import", 6), chunks("Q3", "delete", 0)
    assert (len(first), len(second), len(deleted)) == (3, 2, 1)
    values = [first[0], second[0], first[1], *deleted, *first, second[1]]
    mutations = [*read_mutations(appended(values))]
    assert mutations == [
        Mutation("delete", 0, 1, 4, 1_003, operation_id("Q3", 2, "delete", 1)),
        Mutation("import", 10, 3, 7, 1_006, operation_id("Q1", 2, "import", 1)),
        Mutation("import", 6, 2, 8, 1_007, operation_id("Q2", 2, "import", 1)),
    ]
    assert [mutation.weight for mutation in mutations] == [100, 10, 6]


def test_counts_whole_mutations_once() -> None:
    first, long = chunks("Q1", "import", 10), chunks("Q2", "import", 1_000)
    whole = WholeMutations(cast(TopicLog, Log([first[:2], [first[2], *long[:-1]], [long[-1], first[2]]])))
    assert [whole.look() for _ in range(3)] == [0, 1, 2]


@given(WEIGHTS, st.integers(2, 400))
def test_counts_requests_as_apply_fills_them(weights: list[int], bound: int) -> None:
    requests, batch = 1, MutationBatch(batch_triples=bound)
    for number, weight in enumerate(weights):
        entity = f"Q{number + 1}"
        diff = TripleDiff(added=triples(entity, weight))
        mutation = AppliedMutation(entity, "import", 1, 1, "", str(number), diff, number, number + 1)
        if not batch.has_room_for(mutation):
            requests, batch = requests + 1, MutationBatch(batch_triples=bound)
        batch.add(mutation)
    assert count_requests(weights, bound) == requests


@given(WEIGHTS, st.integers(2, 10))
def test_the_bound_is_the_least_that_gives_so_many(weights: list[int], mutations: int) -> None:
    most = max(1, len(weights) // mutations)
    bound = bound_for(weights, mutations)
    assert count_requests(weights, bound) <= most
    assert bound == 2 or count_requests(weights, bound - 1) > most


def test_one_mutation_a_request_has_a_bound_of_its_own() -> None:
    assert bound_for([0, 0, 5], 1) == 1


@pytest.mark.parametrize(
    ("next_offsets", "times_ms"), [([1, 2, 3, 5], [20, 20, 30, 40]), ([3], [30]), ([4, 5], [40, 40])]
)
def test_a_mutation_is_applied_when_the_store_has_its_offset(next_offsets: list[int], times_ms: list[int]) -> None:
    mutations = [Mutation("diff", 1, 1, offset, 0, "") for offset in next_offsets]
    assert applied_at(mutations, [(10, 0), (20, 2), (30, 3), (40, 5)]) == times_ms


def varint(number: int) -> bytes:
    zigzag = (number << 1) ^ (number >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def record(offset: int, key: bytes | None, value: bytes) -> bytes:
    def field(data: bytes | None) -> bytes:
        return varint(-1) if data is None else varint(len(data)) + data

    body = b"\0" + varint(3) + varint(offset) + field(key) + field(value) + varint(0)
    return varint(len(body)) + body


def batch(base: int, at_ms: int, *values: bytes, attributes: int = 0x08) -> bytes:
    records = b"".join(record(n, None if n else b"key", value) for n, value in enumerate(values))
    rest = struct.pack(">ibIhiqqqhii", 0, 2, 0, attributes, len(values) - 1, at_ms - 5, at_ms, -1, -1, -1, len(values))
    return struct.pack(">qi", base, len(rest) + len(records)) + rest + records


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    (tmp_path / "out-1").mkdir()
    (tmp_path / "out-of-the-way-0").mkdir()
    return tmp_path / "out-1" / "00000000000000000000.log"


def test_counts_what_was_appended_and_when(tmp_path: Path, segment: Path) -> None:
    segment.write_bytes(batch(0, 1_000, b"one", b"two") + batch(2, 2_000, b"three"))
    log = TopicLog(tmp_path, "out")
    assert log.look() == 3
    assert [(b.partition, b.offset, b.count, b.at_ms) for b in log.batches] == [(1, 0, 2, 1_000), (1, 2, 1, 2_000)]


def test_follows_a_file_that_grows_within_a_batch(tmp_path: Path, segment: Path) -> None:
    second = batch(1, 2_000, b"b" * 300)
    segment.write_bytes(batch(0, 1_000, b"a") + second[:100])
    log = TopicLog(tmp_path, "out")
    assert log.look() == 1
    segment.write_bytes(batch(0, 1_000, b"a") + second)
    assert log.look() == 2
    assert log.look() == 2


def test_records_have_key_offset_and_as_much_of_the_value_as_was_asked_for(tmp_path: Path, segment: Path) -> None:
    segment.write_bytes(batch(7, 1_000, b"x" * 200, b"second"))
    log = TopicLog(tmp_path, "out")
    log.look()
    assert [(r.offset, r.key, r.value) for r in log.records()] == [(7, b"key", b"x" * 200), (8, None, b"second")]
    assert [r.value for r in log.records(value_bytes=3)] == [b"xxx", b"sec"]
    assert list(log.records(since=1)) == []


def test_control_batches_are_no_records_and_compressed_ones_are_refused(tmp_path: Path, segment: Path) -> None:
    segment.write_bytes(batch(0, 1_000, b"commit", attributes=0x30) + batch(1, 2_000, b"a"))
    assert TopicLog(tmp_path, "out").look() == 1
    segment.write_bytes(batch(0, 1_000, b"zipped", attributes=0x01))
    with pytest.raises(ValueError, match="attributes 0x1"):
        TopicLog(tmp_path, "out").look()
