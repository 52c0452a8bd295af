"""What differs, by entity, between a store and the truth: in a real SPARQL engine, within this process."""

import pytest

from devkit.observe.store_difference import EntityDifference, EntityTruth, StoreDifference
from devkit.observe.wikibase.entity_triples import BASE, Triple
from devkit.observe.wikibase.store_comparison import compare_store
from tests.unit.devkit.observe.memory_store import MemoryStore

DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
POSITION = ("next-offset", "last-request", "topic-id")
GRAPH = "http://wiki/graph"
Q1, Q2 = f"<{BASE}/entity/Q1>", f"<{BASE}/entity/Q2>"
STATEMENT = f"<{BASE}/entity/statement/Q1-5D1A>"
REFERENCE = f"<{BASE}/reference/af>"
PAGE = "<https://en.wikipedia.org/wiki/One>"
LABEL = Triple(Q1, "<http://label>", '"one"@en')
OF_STATEMENT = Triple(STATEMENT, "<http://derivedFrom>", REFERENCE)
OF_REFERENCE = Triple(REFERENCE, "<http://url>", "<http://source>")
ABOUT = Triple(PAGE, "<http://schema.org/about>", Q1)
OF_PAGE = Triple(PAGE, "<http://schema.org/name>", '"One"@en')
OF_Q2 = Triple(Q2, "<http://label>", '"two"@en')
BADGE = "<http://wikiba.se/ontology#badge>"
FOREIGN = Triple("<http://evil/x>", "<http://evil/p>", '"1"')
UNLINKED = (
    Triple(f"<{BASE}/value/0c>", "<http://v>", '"1"'),
    Triple(f"<{BASE}/reference/0c>", "<http://v>", '"1"'),
    Triple(f"<{BASE}/prop/direct/P9>", "<http://v>", '"1"'),
    Triple(f"<{BASE}/.well-known/genid/0c>", "<http://v>", '"1"'),
    Triple("<https://de.wikipedia.org/>", "<http://wikiba.se/ontology#wikiGroup>", '"wikipedia"'),
    Triple("<https://de.wikipedia.org/wiki/X>", "<http://schema.org/name>", '"X"@de'),
    Triple("<https://de.wikipedia.org/wiki/X>", BADGE, Q2),
    Triple(
        "<https://de.wikipedia.org/wiki/X>",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        "<http://schema.org/Article>",
    ),
)
ALL = (LABEL, OF_STATEMENT, OF_REFERENCE, ABOUT, OF_PAGE, OF_Q2)
TRUTH = (EntityTruth("Q1", frozenset(ALL[:5])), EntityTruth("Q2", frozenset({OF_Q2, OF_REFERENCE})))


def store_with(*triples: Triple, graph: str | None = None) -> MemoryStore:
    store = MemoryStore()
    text = " ".join(f"{' '.join(triple)} ." for triple in triples)
    store.change(f"INSERT DATA {{ {text if graph is None else f'GRAPH <{graph}> {{ {text} }}'} }}")
    return store


def without(*gone: Triple) -> tuple[Triple, ...]:
    return tuple(triple for triple in ALL if triple not in gone)


STORES: dict[str, tuple[tuple[Triple, ...], dict[str, tuple[int, int]]]] = {
    # What is stored, and of each entity that differs what is missing and what is too much.
    "the same": (ALL, {}),
    "one triple is missing": (without(LABEL), {"Q1": (1, 0)}),
    "a shared triple is missing to all that have it": (without(OF_REFERENCE), {"Q1": (1, 0), "Q2": (1, 0)}),
    "a statement has too much": ((*ALL, Triple(STATEMENT, "<http://rank>", "<http://best>")), {"Q1": (0, 1)}),
    "a sitelink is another entity's": (
        (*without(ABOUT), Triple(PAGE, ABOUT.predicate, Q2)),
        {"Q1": (1, 0), "Q2": (0, 1)},
    ),
    "a form of a lexeme that no event names": (
        (*ALL, Triple(f"<{BASE}/entity/L7-F1>", "<http://label>", '"x"')),
        {"L7": (0, 1)},
    ),
    "shared nodes that nothing links are orphans": ((*ALL, *UNLINKED), {}),
    "a shared node has too much for all that link it": (
        (*ALL, OF_REFERENCE._replace(object="<http://other>"), OF_REFERENCE._replace(object='"http://source"')),
        {"Q1": (0, 2), "Q2": (0, 2)},
    ),
    "a sitelink has too much": ((*ALL, Triple(PAGE, BADGE, Q2)), {"Q1": (0, 1)}),
    "a node of no known kind differs by itself": (
        (*ALL, FOREIGN, FOREIGN._replace(object='"2"')),
        {FOREIGN.subject: (0, 2)},
    ),
    "the position in the topic does not count": (
        (*ALL, *(Triple("<urn:enrichment:mutations:t:0>", f"<urn:enrichment:{name}>", '"7"') for name in POSITION)),
        {},
    ),
}


@pytest.mark.parametrize(("stored", "differing"), STORES.values(), ids=STORES)
@pytest.mark.parametrize("graph", [None, GRAPH])
def test_what_differs_is_counted_by_entity(
    stored: tuple[Triple, ...], differing: dict[str, tuple[int, int]], graph: str | None
) -> None:
    store = store_with(*stored, graph=graph)
    before = {*store.data}
    differences = tuple(EntityDifference(entity, *counts) for entity, counts in differing.items())
    orphans = len({*stored} & {*UNLINKED})
    assert compare_store(store, TRUTH, graph) == StoreDifference(2, differences, orphans)
    assert {*store.data} == before, "the truth was left in the store"


def test_a_deleted_entity_must_have_nothing() -> None:
    deleted = (EntityTruth("Q1", frozenset()), TRUTH[1])
    found = compare_store(store_with(LABEL, ABOUT, OF_Q2, OF_REFERENCE), deleted)
    assert found == StoreDifference(2, (EntityDifference("Q1", 0, 2),), 0)


def test_literals_are_compared_as_the_store_reads_them() -> None:
    written, stored = (Triple(Q1, "<http://height>", f'"{text}"^^<{DECIMAL}>') for text in ("+1.50", "1.5"))
    assert compare_store(store_with(stored), [EntityTruth("Q1", frozenset({written}))]).differing == ()


def test_a_truth_of_many_requests() -> None:
    triples = frozenset(Triple(Q1, "<http://p>", f'"{number}"') for number in range(25_000))
    truth = [EntityTruth("Q1", triples), EntityTruth("Q2", triples), EntityTruth("Q3", frozenset({OF_Q2}))]
    store = store_with(OF_Q2)
    assert compare_store(store, truth).differing == (
        EntityDifference("Q1", 25_000, 0),
        EntityDifference("Q2", 25_000, 0),
    )
