from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.apply.reassemble import Mutation, Reassembler, RepeatFilter
from pipeline.rdf.mutation import MutationChunk, mutation_records, read_chunk
from pipeline.rdf.operation import Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.record import Position


def operation(entity: str, seq: int = 1) -> Operation:
    return Operation(entity, "import", seq, None, "2026-03-02T09:00:00Z", seq, (Position("source", 0, seq),))


def chunks_of(of: Operation, texts: Iterable[str], *, characters: int = 45) -> list[MutationChunk]:
    """With these characters, a chunk has one short triple."""
    diff = TripleDiff(tuple(f'<http://e.org/{of.entity}> <http://e.org/p> "{text}" .' for text in texts))
    records = mutation_records(of, diff, topic="mutation", domain="e.org", characters=characters)
    return [read_chunk(made.record.value, made.record.headers, offset=0) for made in records]


def reassemble(chunks: Iterable[MutationChunk]) -> tuple[list[Mutation], Reassembler]:
    """Chunks at offsets from 0 on."""
    reassembler = Reassembler()
    placed = [replace(chunk, offset=offset) for offset, chunk in enumerate(chunks)]
    return [whole for chunk in placed if (whole := reassembler.add(chunk)) is not None], reassembler


Q1 = chunks_of(operation("Q1"), "abc")
Q2 = chunks_of(operation("Q2"), "ab")
Q3 = chunks_of(operation("Q3"), "a")


def test_a_mutation_has_the_triples_of_all_its_chunks() -> None:
    ((mutation,), _) = reassemble(Q1)
    assert (mutation.entity, mutation.op, mutation.rev, mutation.seq) == ("Q1", "import", 1, 1)
    assert (mutation.request_id, mutation.dt) == (operation("Q1").id, "2026-03-02T09:00:00Z")
    assert mutation.diff.added == tuple(f'<http://e.org/Q1> <http://e.org/p> "{text}" .' for text in "abc")
    assert mutation.next_offset == 3


@pytest.mark.parametrize(
    ("chunks", "whole", "dropped", "orphaned"),
    [
        ([*Q1, *Q2, *Q3], {"Q1": 3, "Q2": 5, "Q3": 6}, 0, 0),
        ([*Q1[:2], *Q1], {"Q1": 5}, 2, 0),
        ([*Q1[:2], *Q1[:1], *Q1], {"Q1": 6}, 3, 0),
        ([*Q1[:2], *Q2, *Q1], {"Q2": 4, "Q1": 7}, 2, 0),
        ([*Q1[:1], *Q1[2:], *Q1], {"Q1": 5}, 1, 1),
        ([*Q1[1:], *Q3], {"Q3": 3}, 0, 2),
        ([*Q1[:1], *Q2[1:], *Q3], {"Q3": 3}, 1, 1),
        ([*Q1[:2]], {}, 0, 0),
    ],
)
def test_a_prefix_that_is_not_continued_is_dropped_and_counted(
    chunks: list[MutationChunk], whole: dict[str, int], dropped: int, orphaned: int
) -> None:
    mutations, reassembler = reassemble(chunks)
    assert {mutation.entity: mutation.next_offset for mutation in mutations} == whole
    assert (reassembler.dropped, reassembler.orphaned) == (dropped, orphaned)


@given(
    texts=st.lists(st.text("abc", max_size=30), max_size=12, unique=True),
    characters=st.integers(30, 120),
    data=st.data(),
)
def test_chunks_are_one_mutation_again_whatever_prefixes_were_repeated(
    texts: list[str], characters: int, data: st.DataObject
) -> None:
    chunks = chunks_of(operation("Q1"), texts, characters=characters)
    (expected,), _ = reassemble(chunks)
    prefixes = data.draw(st.lists(st.integers(0, len(chunks) - 1), max_size=3))
    repeated = [chunk for length in prefixes for chunk in chunks[:length]]
    (mutation,), reassembler = reassemble([*repeated, *chunks])
    assert mutation == replace(expected, next_offset=len(repeated) + len(chunks))
    assert reassembler.dropped == len(repeated)


def test_every_prefix_repeated_gives_the_same_mutation() -> None:
    chunks = chunks_of(operation("Q1"), "abcdefgh")
    assert len(chunks) == 8
    (expected,), _ = reassemble(chunks)
    for length in range(len(chunks)):
        (mutation,), reassembler = reassemble([*chunks[:length], *chunks])
        assert mutation.diff == expected.diff
        assert reassembler.dropped == length


def test_a_mutation_that_is_no_later_than_the_last_of_its_entity_is_a_repeat() -> None:
    mutations, _ = reassemble(
        chunk
        for entity, seq in [("Q1", 1), ("Q2", 1), ("Q1", 2), ("Q1", 1), ("Q1", 2), ("Q1", 4)]
        for chunk in chunks_of(operation(entity, seq), "a")
    )
    repeats = RepeatFilter()
    assert [repeats.is_repeat(mutation) for mutation in mutations] == [False, False, False, True, True, False]
    assert repeats.repeats == 2


def test_the_entity_without_a_mutation_for_the_longest_time_is_forgotten() -> None:
    mutations, _ = reassemble(
        chunk
        for entity, seq in [("Q1", 1), ("Q2", 1), ("Q1", 2), ("Q3", 1), ("Q1", 2), ("Q2", 1)]
        for chunk in chunks_of(operation(entity, seq), "a")
    )
    repeats = RepeatFilter(max_entities=2)
    assert [repeats.is_repeat(mutation) for mutation in mutations] == [False, False, False, False, True, False]
