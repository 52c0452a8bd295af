from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.apply.reassemble import Mutation, Reassembler, RepeatFilter
from pipeline.rdf.mutation import MutationChunk, mutation_records, read_chunk
from pipeline.rdf.operation import Op, Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.record import Position


def operation(entity: str, seq: int = 1, rev: int | None = None, op: Op = "import", second: int = 0) -> Operation:
    rev = seq if rev is None else rev
    return Operation(entity, op, rev, None, f"2026-03-02T09:00:{second:02}Z", seq, (Position("source", 0, seq),))


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
OTHER_Q1, LONGER_Q1 = chunks_of(operation("Q1"), "xyz"), chunks_of(operation("Q1"), "abcd")


def test_a_mutation_has_the_triples_of_all_its_chunks() -> None:
    ((mutation,), _) = reassemble(Q1)
    assert (mutation.entity, mutation.op, mutation.rev, mutation.seq) == ("Q1", "import", 1, 1)
    assert (mutation.request_id, mutation.dt) == (operation("Q1").id, "2026-03-02T09:00:00Z")
    assert mutation.diff.added == tuple(f'<http://e.org/Q1> <http://e.org/p> "{text}" .' for text in "abc")
    assert (mutation.first_offset, mutation.next_offset) == (0, 3)


@pytest.mark.parametrize(
    ("chunks", "whole", "dropped", "orphaned"),
    [
        ([*Q1, *Q2, *Q3], {"Q1": 3, "Q2": 5, "Q3": 6}, 0, 0),
        ([*Q1[:2], *Q1], {"Q1": 5}, 2, 0),
        ([*Q1[:2], *Q1[:1], *Q1], {"Q1": 6}, 3, 0),
        ([*Q1[:2], *Q2, *Q1], {"Q2": 4, "Q1": 7}, 2, 0),
        ([Q1[0], Q2[0], Q1[1], Q3[0], Q2[1], Q1[2]], {"Q3": 4, "Q2": 5, "Q1": 6}, 0, 0),
        ([Q1[0], Q2[0], Q1[1], *Q1, Q2[1]], {"Q1": 6, "Q2": 7}, 2, 0),
        ([*Q1[:1], *Q1[2:], *Q1], {"Q1": 5}, 1, 1),
        ([Q1[0], Q2[0], Q1[2], Q2[1]], {"Q2": 4}, 0, 1),
        # Two attempts interleave.
        ([Q1[0], Q1[0], Q1[1], Q1[1], Q1[2], Q1[2]], {"Q1": 5}, 3, 0),
        ([*Q1[:2], Q1[0], Q1[2], *Q1[1:], *Q3], {"Q1": 4, "Q3": 7}, 3, 0),
        ([*Q1[:2], Q1[0], Q1[1], Q1[2], Q1[2]], {"Q1": 5}, 3, 0),
        # The second attempt has other triples, from the start or from a chunk on.
        ([*Q1[:2], *OTHER_Q1], {"Q1": 5}, 2, 0),
        ([*Q1[:2], Q1[0], *OTHER_Q1[1:]], {"Q1": 5}, 2, 0),
        ([*Q1[:2], *LONGER_Q1], {"Q1": 6}, 2, 0),
        # Read from the middle of the first attempt.
        ([Q1[1], Q1[0], Q1[2], *Q1[1:]], {"Q1": 5}, 0, 2),
        ([*Q1[1:], *Q3], {"Q3": 3}, 0, 2),
        ([*Q1[:1], *Q2[1:], *Q3], {"Q3": 3}, 0, 1),
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
def test_repeated_prefixes_leave_the_mutation_as_it_is(texts: list[str], characters: int, data: st.DataObject) -> None:
    chunks = chunks_of(operation("Q1"), texts, characters=characters)
    (expected,), _ = reassemble(chunks)
    prefixes = data.draw(st.lists(st.integers(0, len(chunks) - 1), max_size=3))
    repeated = [chunk for length in prefixes for chunk in chunks[:length]]
    (mutation,), reassembler = reassemble([*repeated, *chunks])
    assert mutation == replace(expected, next_offset=len(repeated) + len(chunks))
    assert reassembler.dropped == len(repeated)


@given(length=st.integers(1, 5), killed=st.lists(st.integers(0, 5), max_size=2), data=st.data())
def test_attempts_that_interleave_give_the_mutation(length: int, killed: list[int], data: st.DataObject) -> None:
    """Of which one is whole; also where one is read from its middle."""
    chunks = chunks_of(operation("Q1"), "abcde"[:length])
    (expected,), _ = reassemble(chunks)
    attempts = [list(chunks), *(chunks[data.draw(st.integers(0, length)) : end] for end in killed)]
    interleaved = []
    while remaining := [attempt for attempt in attempts if attempt]:
        interleaved.append(data.draw(st.sampled_from(remaining)).pop(0))
    mutations, _ = reassemble(interleaved)
    assert mutations
    assert {mutation.diff for mutation in mutations} == {expected.diff}


@pytest.mark.parametrize(
    ("chunks", "restart"),
    [
        ([], 0),
        ([*Q1], 3),
        ([*Q1, *Q2[:1]], 3),
        ([Q1[0], Q2[0], Q1[1], Q1[2]], 1),
        ([Q1[0], Q2[0], Q2[1], Q3[0]], 0),
        ([Q1[0], Q2[0], *Q1, Q3[0]], 1),
        ([Q1[0], Q2[0], Q1[0], Q3[0]], 0),
        ([Q1[0], Q2[0], *OTHER_Q1, Q3[0]], 1),
        ([Q1[0], Q2[0], OTHER_Q1[0], Q3[0]], 1),
        ([Q1[0], Q2[0], Q1[2], Q3[0]], 0),
    ],
)
def test_a_restart_begins_at_the_first_chunk_of_an_open_prefix(chunks: list[MutationChunk], restart: int) -> None:
    _, reassembler = reassemble(chunks)
    assert reassembler.restart_offset(len(chunks)) == restart
    assert reassembler.restart_offset(0) == 0


def test_a_prefix_that_nothing_continues_is_dropped_in_the_end() -> None:
    reassembler = Reassembler(max_distance=10)
    for offset, chunk in ((0, Q1[0]), (1, Q2[0]), (10, Q1[1])):
        reassembler.add(replace(chunk, offset=offset))
    assert reassembler.restart_offset(11) == 0
    reassembler.add(replace(chunks_of(operation("Q4"), "ab")[0], offset=12))
    assert (reassembler.dropped, reassembler.restart_offset(13)) == (1, 0)
    reassembler.add(replace(chunks_of(operation("Q5"), "ab")[0], offset=21))
    assert (reassembler.dropped, reassembler.restart_offset(22)) == (3, 12)


@pytest.mark.parametrize(
    ("times", "dropped", "restart"),
    [
        ((0, 100, 100), 0, 3),
        ((0, 101, 101), 1, 3),
        # The second chunk of another one renews nothing; a record of a wrong clock drops what is open, and no more.
        ((0, 60, 161), 1, 3),
        ((0, 900, 10), 1, 3),
        # No times are known.
        ((-1, 900, 900), 0, 3),
        ((0, -1, -1), 0, 3),
    ],
)
def test_a_prefix_is_dropped_after_some_time_also_by_mutations_of_one_chunk(
    times: tuple[int, int, int], dropped: int, restart: int
) -> None:
    reassembler = Reassembler(max_age_ms=100)
    chunks = [Q2[0], Q3[0], Q2[1]]
    whole = [
        reassembler.add(replace(chunk, offset=offset), at_ms)
        for offset, (chunk, at_ms) in enumerate(zip(chunks, times, strict=True))
    ]
    assert whole[1] is not None
    assert ((whole[2] is None), reassembler.dropped, reassembler.orphaned) == (dropped > 0, dropped, dropped)
    assert reassembler.restart_offset(3) == restart


def test_of_too_many_prefixes_the_first_is_dropped() -> None:
    reassembler = Reassembler(max_open=2)
    chunks = [chunks_of(operation(entity), "ab") for entity in ("Q1", "Q2", "Q3")]
    for offset, (first, _) in enumerate(chunks):
        reassembler.add(replace(first, offset=offset))
    assert (reassembler.dropped, reassembler.restart_offset(3)) == (1, 1)
    whole = [reassembler.add(replace(second, offset=3 + offset)) for offset, (_, second) in enumerate(chunks)]
    assert [mutation is not None for mutation in whole] == [False, True, True]
    assert reassembler.orphaned == 1


@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4), data=st.data())
def test_mutations_are_whole_however_their_chunks_interleave(lengths: list[int], data: st.DataObject) -> None:
    queues = [chunks_of(operation(f"Q{number}"), "abcde"[:length]) for number, length in enumerate(lengths, start=1)]
    interleaved = []
    while remaining := [queue for queue in queues if queue]:
        interleaved.append(data.draw(st.sampled_from(remaining)).pop(0))
    mutations, reassembler = reassemble(interleaved)
    assert {mutation.entity: len(mutation.diff) for mutation in mutations} == {
        f"Q{number}": length for number, length in enumerate(lengths, start=1)
    }
    assert (reassembler.dropped, reassembler.orphaned) == (0, 0)
    for mutation in mutations:
        offsets = [offset for offset, chunk in enumerate(interleaved) if chunk.entity == mutation.entity]
        assert (mutation.first_offset, mutation.next_offset) == (offsets[0], offsets[-1] + 1)


def is_repeat(repeats: RepeatFilter, mutation: Mutation) -> bool:
    """Remembers it otherwise."""
    if repeats.is_repeat(mutation):
        return True
    repeats.remember(mutation)
    return False


@pytest.mark.parametrize(
    ("operations", "repeats"),
    [
        ([operation("Q1", 1), operation("Q2", 1), operation("Q1", 2)], [False, False, False]),
        ([operation("Q1", 1), operation("Q1", 1)], [False, True]),
        ([operation("Q1", 1), operation("Q1", 2), operation("Q1", 1), operation("Q1", 2)], [False, False, True, True]),
        ([operation("Q1", 1), operation("Q1", 4), operation("Q1", 3)], [False, False, True]),
        # The state that counts `seq` was made anew.
        ([operation("Q1", 4, 9), operation("Q1", 1, 10), operation("Q1", 2, 11)], [False, False, False]),
        ([operation("Q1", 4, 9), operation("Q1", 1, 9, "delete", 1)], [False, False]),
        ([operation("Q1", 4, 9), operation("Q1", 1, 1, "delete", 1)], [False, False]),
        # One revision: it is imported, deleted and imported again.
        ([operation("Q1", 1, 9), operation("Q1", 2, 9, "delete"), operation("Q1", 3, 9)], [False, False, False]),
        ([operation("Q1", 1, 9), operation("Q1", 2, 9, "delete", 1), operation("Q1", 1, 9)], [False, False, True]),
        ([operation("Q1", 1, 9), operation("Q1", 2, 9, "delete"), operation("Q1", 1, 9)], [False, False, True]),
        (
            [
                operation("Q1", 1, 9), operation("Q1", 2, 9, "delete", 1), operation("Q1", 3, 9, second=2),
                operation("Q1", 2, 9, "delete", 1), operation("Q1", 1, 9),
            ],
            [False, False, False, True, True],
        ),
    ],
)  # fmt: skip
def test_which_mutations_repeat_an_earlier_one(operations: list[Operation], repeats: list[bool]) -> None:
    mutations, _ = reassemble(chunk for of in operations for chunk in chunks_of(of, "a"))
    repeat_filter = RepeatFilter()
    assert [is_repeat(repeat_filter, mutation) for mutation in mutations] == repeats
    assert repeat_filter.repeats == sum(repeats)


def test_the_entity_without_a_mutation_for_the_longest_time_is_forgotten() -> None:
    mutations, _ = reassemble(
        chunk
        for entity, seq in [("Q1", 1), ("Q2", 1), ("Q1", 2), ("Q3", 1), ("Q1", 2), ("Q2", 1)]
        for chunk in chunks_of(operation(entity, seq), "a")
    )
    repeats = RepeatFilter(max_entities=2)
    assert [is_repeat(repeats, mutation) for mutation in mutations] == [False, False, False, False, True, False]
