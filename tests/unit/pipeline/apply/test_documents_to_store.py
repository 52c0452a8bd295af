"""From the documents of two revisions to the triples in a store, through every module between them."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.apply.accumulate import MutationBatch
from pipeline.apply.reassemble import Mutation, Reassembler, RepeatFilter
from pipeline.rdf.munge import munge
from pipeline.rdf.mutation import MutationChunk, mutation_records, read_chunk
from pipeline.rdf.operation import Op, Operation
from pipeline.rdf.revision_diff import TripleDiff, diff_revisions, is_shared
from pipeline.rdf.triples import Triple
from pipeline.records.record import Position, Record
from tests.unit.pipeline.apply.mutations import apply_batch, triples_in
from tests.unit.pipeline.apply.test_reassemble import is_repeat
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of, version_of

ENTITIES = ("Q1", "Q2")
MAX_RECORD_BYTES = 1_200


def document(entity: str, rev: int) -> str:
    """A revision of an entity; every one has other statements, and all share a reference."""
    statements = "".join(
        f"""wd:{entity} a wikibase:Item ; p:P1 wds:{entity}-{number} ; wdt:P1 "{rev} \\"{number}\\"" .
            wds:{entity}-{number} a wikibase:Statement ; ps:P1 "{rev} {number}" ; prov:wasDerivedFrom wdref:1 ;
              psv:P1 wdv:{number} .
            wdv:{number} a wikibase:TimeValue ; wikibase:timeValue "{number}" ."""
        for number in range(rev, rev + 5)
    )
    reference = 'wdref:1 a wikibase:Reference ; pr:P2 "shared" ; prv:P3 wdv:0 . wdv:0 a wikibase:TimeValue .'
    return version_of(entity, rev, node="wdata") + statements + reference + f"wd:{entity} wdt:P2 _:somevalue{rev} ."


def munged(entity: str, rev: int) -> frozenset[Triple]:
    return munge(triples_of(document(entity, rev)), entity, NAMESPACES)


def operations() -> Iterator[tuple[Operation, TripleDiff]]:
    """Each entity is imported and edited twice, the second one is deleted in the end."""
    for rev in (1, 2, 3):
        for entity in ENTITIES:
            before = munged(entity, rev - 1) if rev > 1 else frozenset()
            yield _operation(entity, rev, rev), diff_revisions(before, munged(entity, rev), NAMESPACES)
    yield _operation("Q2", 3, 4), TripleDiff()


def _operation(entity: str, rev: int, seq: int) -> Operation:
    ops: dict[int, Op] = {1: "import", 4: "delete"}
    op = ops.get(seq, "diff")
    from_rev = rev - 1 if op == "diff" else None
    return Operation(entity, op, rev, from_rev, f"2026-03-02T09:00:0{seq}Z", seq, (Position("source", 0, seq),))


def topic_of(pieces: list[tuple[Operation, TripleDiff]]) -> list[list[Record]]:
    """The records of each operation."""
    return [
        [
            made.record
            for made in mutation_records(of, diff, topic="t", domain="e.org", max_record_bytes=MAX_RECORD_BYTES)
        ]
        for of, diff in pieces
    ]


def mutations_in(records: list[Record]) -> list[Mutation]:
    """Without repeats."""
    reassembler, repeats = Reassembler(), RepeatFilter()
    chunks: list[MutationChunk] = [
        read_chunk(record.value, record.headers, offset=offset) for offset, record in enumerate(records)
    ]
    whole = [mutation for chunk in chunks if (mutation := reassembler.add(chunk)) is not None]
    return [mutation for mutation in whole if not is_repeat(repeats, mutation)]


def store_after(mutations: list[Mutation], new_batch: Callable[[], MutationBatch]) -> pyoxigraph.Store:
    store, batch = pyoxigraph.Store(), new_batch()
    for mutation in mutations:
        if not batch.has_room_for(mutation):
            apply_batch(store, batch)
            batch = new_batch()
        batch.add(mutation)
    apply_batch(store, batch)
    return store


@pytest.mark.parametrize(
    "new_batch",
    [MutationBatch, partial(MutationBatch, max_mutations=1), partial(MutationBatch, batch_triples=120)],
    ids=["default", "one mutation", "small"],
)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_a_store_has_the_last_revisions_in_the_end(new_batch: Callable[[], MutationBatch], data: st.DataObject) -> None:
    """The producer is killed at any record, and begins again at the operation whose chunks it wrote, or some before."""
    topic = topic_of(list(operations()))
    assert all(len(records) > 2 for records in topic[:-1])
    killed = data.draw(st.integers(0, len(topic) - 1))
    again = data.draw(st.integers(0, killed))
    prefix = data.draw(st.integers(0, len(topic[killed]) - 1))
    written = [*topic[:killed], topic[killed][:prefix], *topic[again:]]
    triples = triples_in(store_after(mutations_in([*chain(*written)]), new_batch))
    expected = munged("Q1", 3)
    assert expected <= triples
    assert all(is_shared(triple, NAMESPACES) for triple in triples - expected)
