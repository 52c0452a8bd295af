from collections.abc import Iterator
from itertools import pairwise

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.apply.accumulate import MutationBatch, Patch
from pipeline.apply.patch import StorePosition, count_query, position_query, write_update
from pipeline.apply.reassemble import Mutation
from tests.unit.pipeline.apply.histories import History, assert_last_revisions, histories
from tests.unit.pipeline.apply.mutations import (
    TOPIC,
    apply_all,
    delete,
    edit,
    import_of,
    reconcile,
    store_with,
    triples_in,
)
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of

GRAPH = "http://e.org/graph"
REFERENCE = 'wdref:1 pr:P1 "a" .'
OF_Q1 = 'wd:Q1 wdt:P1 "a" .'


def sitelink(*entities: str) -> str:
    """A page, and which entities it is about."""
    page = '<https://en.e.org/wiki/A> a schema:Article ; schema:name "A"@en .'
    return page + "".join(f"<https://en.e.org/wiki/A> schema:about wd:{entity} ." for entity in entities)


def statement(entity: str) -> str:
    return f'wd:{entity} p:P1 wds:{entity}-a . wds:{entity}-a ps:P1 "a" ; prov:wasDerivedFrom wdref:1 .' + REFERENCE


LEXEME = """wd:L1 wikibase:lemma "a"@en ; ontolex:lexicalForm wd:L1-F1 ; ontolex:sense wd:L1-S1 .
    wd:L1-F1 ontolex:representation "a"@en ; p:P1 wds:L1-F1-a . wds:L1-F1-a ps:P1 "a" .
    wd:L1-S1 wdt:P1 "a" ."""
PROPERTY = "wd:P1 wikibase:claim p:P1 ; wikibase:novalue wdno:P1 . "
DEFINITIONS = "p:P1 a owl:ObjectProperty . wdno:P1 a owl:Class ."


def offsets_in(store: pyoxigraph.Store, graph: str | None = None) -> list[str]:
    return [row["offset"].value for row in store.query(position_query(TOPIC, 0, graph=graph))]


@pytest.mark.parametrize(
    ("before", "mutations", "after"),
    [
        ("", [edit("Q1", "", statement("Q1"))], statement("Q1")),
        (statement("Q1"), [edit("Q1", statement("Q1"), "")], REFERENCE),
        (statement("Q1"), [edit("Q1", statement("Q1"), 'wd:Q1 wdt:P1 "b" .')], 'wd:Q1 wdt:P1 "b" .' + REFERENCE),
        (statement("Q1") + statement("Q2"), [delete("Q1")], statement("Q2")),
        (statement("Q1") + 'wd:Q2 wdt:P1 wd:Q1 .', [delete("Q1")], "wd:Q2 wdt:P1 wd:Q1 ." + REFERENCE),
        (statement("Q11"), [delete("Q1")], statement("Q11")),
        (LEXEME + statement("Q1"), [delete("L1")], statement("Q1")),
        (PROPERTY + DEFINITIONS, [delete("P1")], DEFINITIONS),
        (statement("Q1") + statement("Q2"), [delete("Q1"), delete("Q2")], REFERENCE),
        (statement("Q1") + sitelink("Q1"), [delete("Q1")], REFERENCE),
        (sitelink("Q1", "Q2"), [delete("Q1")], sitelink("Q2")),
        (sitelink("Q1", "Q2"), [delete("Q1"), delete("Q2")], ""),
        (sitelink("Q1"), [edit("Q2", "", sitelink("Q2")), edit("Q1", sitelink("Q1"), "")], sitelink("Q2")),
        (sitelink("Q1"), [edit("Q2", "", sitelink("Q2")), delete("Q1")], sitelink("Q2")),
        (statement("Q1"), [delete("Q1"), edit("Q1", "", 'wd:Q1 wdt:P1 "b" .')], 'wd:Q1 wdt:P1 "b" .' + REFERENCE),
        (statement("Q1") + 'wd:Q1 wdt:P1 "wrong" .', [reconcile("Q1", statement("Q1"))], statement("Q1")),
        (LEXEME, [reconcile("L1", 'wd:L1 wikibase:lemma "b"@en .')], 'wd:L1 wikibase:lemma "b"@en .'),
        (statement("Q1") + 'wd:Q1 wdt:P1 "wrong" .' + sitelink("Q1"), [import_of("Q1", statement("Q1"))],
         statement("Q1")),
        (sitelink("Q1", "Q2"), [import_of("Q1", OF_Q1)], OF_Q1 + sitelink("Q2")),
        ("", [import_of("Q1", OF_Q1), edit("Q1", OF_Q1, ""), import_of("Q1", statement("Q1"))], statement("Q1")),
        # What was added before is deleted where it is added and deleted again.
        (OF_Q1, [edit("Q1", "", OF_Q1), edit("Q1", OF_Q1, "")], ""),
    ],
)  # fmt: skip
def test_a_request_does_what_the_mutations_say(before: str, mutations: list[Mutation], after: str) -> None:
    store = store_with(before)
    apply_all(store, mutations, MutationBatch())
    assert triples_in(store) == set(triples_of(after))
    apply_all(store, mutations, MutationBatch())
    assert triples_in(store) == set(triples_of(after)), "a request may come again"


def test_the_store_has_one_next_offset_for_each_partition() -> None:
    store = pyoxigraph.Store()
    assert offsets_in(store) == []
    for next_offset in (5, 12):
        store.update(write_update(Patch(), StorePosition(TOPIC, 0, next_offset), NAMESPACES))
        store.update(write_update(Patch(), StorePosition(TOPIC, 1, 99), NAMESPACES))
        assert offsets_in(store) == [str(next_offset)]
    assert len(store) == 2


def test_a_named_graph_has_triples_and_offset() -> None:
    store = store_with(statement("Q1"))
    position = StorePosition(TOPIC, 0, 5)
    inserted = Patch(inserted=tuple(triples_of(statement("Q1") + statement("Q2"))))
    store.update(write_update(inserted, position, NAMESPACES, graph=GRAPH))
    changed = Patch(("Q1",), tuple(triples_of("wd:Q2 p:P1 wds:Q2-a .")))
    store.update(write_update(changed, position, NAMESPACES, graph=GRAPH))
    graph = {str(quad.triple) + " ." for quad in store.quads_for_pattern(None, None, None, pyoxigraph.NamedNode(GRAPH))}
    remaining = set(triples_of(statement("Q2"))) - set(changed.deleted)
    assert graph == remaining | {f"{position.node} <urn:enrichment:next-offset> {pyoxigraph.Literal(5)} ."}
    assert triples_in(store) == set(triples_of(statement("Q1")))
    assert (offsets_in(store, GRAPH), offsets_in(store)) == (["5"], [])


def test_without_a_position_only_triples_change() -> None:
    store = store_with("")
    store.update(write_update(Patch(inserted=tuple(triples_of(statement("Q1")))), None, NAMESPACES))
    assert (triples_in(store), offsets_in(store)) == (set(triples_of(statement("Q1"))), [])
    assert write_update(Patch(), None, NAMESPACES) == ""


@pytest.mark.parametrize("graph", [None, GRAPH])
def test_a_store_counts_which_of_some_triples_it_has(graph: str | None) -> None:
    store = pyoxigraph.Store()
    there = triples_of(r"""wd:Q1 wdt:P1 "\"\n", "a"@en, 5, wd:Q2 ; p:P1 wds:Q1-a .""")
    store.update(write_update(Patch(inserted=tuple(there)), None, NAMESPACES, graph=graph))
    solutions = store.query(count_query([*there[1:], *triples_of("wd:Q1 wdt:P1 6 .")], graph=graph))
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    assert [str(solution["count"].value) for solution in solutions] == ["4"]


def test_any_literal_can_be_written() -> None:
    triples = triples_of(r"""wd:Q1 wdt:P1 "\"\\\n\r\t\u0000\u2028é😀}", "a"@en-gb, 5, "+1.50"^^xsd:decimal .""")
    store = pyoxigraph.Store()
    position = StorePosition(TOPIC, 0, 1)
    store.update(write_update(Patch(inserted=tuple(triples)), position, NAMESPACES))
    assert len(triples_in(store)) == 4
    store.update(write_update(Patch(deleted=tuple(triples)), position, NAMESPACES))
    assert triples_in(store) == set()


def split_at(mutations: list[Mutation], cuts: set[int]) -> Iterator[list[Mutation]]:
    bounds = [0, *sorted(cut for cut in cuts if 0 < cut < len(mutations)), len(mutations)]
    for first, end in pairwise(bounds):
        if first < end:
            yield mutations[first:end]


@settings(deadline=None)
@given(history=histories(), cuts=st.sets(st.integers(1, 7)))
def test_the_store_has_the_last_revisions_however_mutations_are_batched(history: History, cuts: set[int]) -> None:
    store = pyoxigraph.Store()
    for mutations in split_at(history.mutations, cuts):
        apply_all(store, mutations, MutationBatch())
        assert offsets_in(store) == [str(mutations[-1].next_offset)]
    assert_last_revisions(store, history)


@settings(deadline=None)
@given(history=histories(), applied=st.integers(0, 8), again=st.integers(0, 8))
def test_mutations_may_come_again_in_another_batch(history: History, applied: int, again: int) -> None:
    """As from a target that may apply a request and not keep the offset in it, or a producer that starts again."""
    store = pyoxigraph.Store()
    for mutation in history.mutations[:applied]:
        apply_all(store, [mutation], MutationBatch())
    if repeated := history.mutations[min(applied, again) :]:
        apply_all(store, repeated, MutationBatch())
    assert_last_revisions(store, history)


def linked(entity: str, *badges: str) -> str:
    """A page that the entity has, with badges."""
    return sitelink(entity) + "".join(f"<https://en.e.org/wiki/A> wikibase:badge wd:{badge} ." for badge in badges)


@pytest.mark.parametrize("batches", [[2], [1, 1]], ids=["one batch", "a batch for each"])
@pytest.mark.parametrize(
    ("mutations", "page"),
    [
        ([edit("Q1", linked("Q1", "Q8"), ""), edit("Q2", "", linked("Q2"))], linked("Q2")),
        ([edit("Q2", "", linked("Q2")), edit("Q1", linked("Q1", "Q8"), "")], linked("Q2")),
        ([edit("Q1", linked("Q1", "Q8"), ""), edit("Q2", "", linked("Q2", "Q8"))], linked("Q2", "Q8")),
        ([edit("Q2", "", linked("Q2", "Q8")), edit("Q1", linked("Q1", "Q8"), "")], linked("Q2", "Q8")),
        ([edit("Q2", "", linked("Q2", "Q9")), edit("Q1", linked("Q1", "Q8"), "")], linked("Q2", "Q9")),
        ([edit("Q2", "", linked("Q2", "Q9")), delete("Q1")], linked("Q2", "Q9")),
        ([edit("Q1", linked("Q1", "Q8"), linked("Q1", "Q9")), edit("Q1", linked("Q1", "Q9"), linked("Q1"))],
         linked("Q1")),
        ([edit("Q1", linked("Q1", "Q8"), ""), edit("Q1", "", linked("Q1", "Q9"))], linked("Q1", "Q9")),
        # Nothing links the page any more: of what it is about itself, all stays.
        ([edit("Q1", linked("Q1", "Q8"), linked("Q1")), edit("Q1", linked("Q1"), "")], sitelink()),
        ([edit("Q1", linked("Q1", "Q8"), ""), edit("Q2", "", "")], sitelink()),
    ],
)  # fmt: skip
def test_badges_are_of_the_last_entity_that_linked_it(mutations: list[Mutation], page: str, batches: list[int]) -> None:
    store = store_with(linked("Q1", "Q8"))
    for size in batches:
        apply_all(store, mutations[:size], MutationBatch())
        mutations = mutations[size:]
    assert triples_in(store) == set(triples_of(page))
