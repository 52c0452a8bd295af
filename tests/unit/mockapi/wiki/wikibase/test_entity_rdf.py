"""The documents, read by a parser of RDF that is not ours."""

import json
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from mockapi.wiki.catalog import Located
from mockapi.wiki.wikibase.entity_rdf import EntityRdf, sitelinks_of, statement_count
from mockapi.wiki.wikibase.entity_source import Sitelinks

MakeEntity = Callable[..., Located]
FORMATS = {"ttl": RdfFormat.TURTLE, "nt": RdfFormat.N_TRIPLES}
ENTITY, PROP = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/"
WIKIBASE, SCHEMA = "http://wikiba.se/ontology#", "http://schema.org/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ids = st.sampled_from(["Q2", "Q4", "Q5", "Q42", "P5", "P7", "P31", "P813", "L1", "L7"])
terms = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


def triples(located: Located, form: str = "nt", seed: int = 7) -> set[Triple]:
    data = EntityRdf("ttl" if form == "ttl" else "nt").write(seed, located)
    return {quad.triple for quad in parse(data, format=FORMATS[form])}


def objects(graph: set[Triple], subject: str, predicate: str) -> list[str]:
    wanted = NamedNode(subject), NamedNode(predicate)
    return [triple.object.value for triple in graph if (triple.subject, triple.predicate) == wanted]


def by_subject(graph: set[Triple]) -> dict[str, set[Triple]]:
    described: dict[str, set[Triple]] = {}
    for triple in graph:
        described.setdefault(triple.subject.value, set()).add(triple)
    return described


@given(ids, st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_both_formats_have_the_same_triples(make_entity: MakeEntity, entity: str, n: int) -> None:
    located = make_entity(entity, n)
    assert triples(located, "ttl") == triples(located, "nt")


@given(terms, terms)
@settings(deadline=None)
def test_any_text_stays_what_it_is_in_both_formats(make_entity: MakeEntity, label: str, title: str) -> None:
    source = {
        "labels": {"en": {"language": "en", "value": label}},
        "sitelinks": {"enwiki": {"site": "enwiki", "title": title}},
    }
    located = make_entity("Q2", 1, json.dumps(source))
    graph = triples(located, "ttl")
    assert graph == triples(located)
    assert Triple(NamedNode(f"{ENTITY}Q2"), NamedNode(LABEL), Literal(label, language="en")) in graph
    assert title in {value for _, value in names(graph)}


def names(graph: set[Triple]) -> set[tuple[str, str]]:
    return {(t.subject.value, t.object.value) for t in graph if t.predicate.value == f"{SCHEMA}name"}


@given(ids, st.integers(1, 30), st.integers(1, 1 << 40))
@settings(max_examples=20, deadline=None)
def test_it_depends_on_seed_entity_and_revision_alone(make_entity: MakeEntity, entity: str, n: int, seed: int) -> None:
    located = make_entity(entity, n)
    data = EntityRdf("ttl").write(seed, located)
    assert data == EntityRdf("ttl").write(seed, located)
    assert data != EntityRdf("ttl").write(seed + 1, located)


@given(ids, st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_an_edit_changes_a_few_statements(make_entity: MakeEntity, entity: str, n: int) -> None:
    before, after = (statements(triples(make_entity(entity, revision))) for revision in (n, n + 1))
    added = {statement for statement, said in after.items() if said != before.get(statement)}
    # One to three, and one more; of a lexeme as many of a form and of a sense.
    assert 1 <= len(added) <= (12 if entity[0] == "L" else 4)


def statements(graph: set[Triple]) -> dict[str, frozenset[str]]:
    """What is said of each statement but whether it is the best one, which the others decide."""
    members: dict[str, set[str]] = {}
    for triple in graph:
        if triple.subject.value.startswith(f"{ENTITY}statement/") and "BestRank" not in str(triple.object):
            members.setdefault(triple.subject.value, set()).add(f"{triple.predicate} {triple.object}")
    return {node: frozenset(said) for node, said in members.items()}


@given(ids, st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_the_best_statements_are_the_truthy_ones(make_entity: MakeEntity, entity: str, n: int) -> None:
    graph = triples(make_entity(entity, n))
    described = by_subject(graph)
    ranks: dict[tuple[str, str], dict[str, str]] = {}
    for triple in graph:
        predicate = triple.predicate.value
        if predicate.startswith(f"{PROP}P"):
            node = triple.object.value
            (rank,) = objects(described[node], node, f"{WIKIBASE}rank")
            ranks.setdefault((triple.subject.value, predicate), {})[node] = rank.removeprefix(WIKIBASE)
    best = {t.subject.value for t in graph if t.object == NamedNode(f"{WIKIBASE}BestRank")}
    for (subject, predicate), by_node in ranks.items():
        wanted = "PreferredRank" if "PreferredRank" in by_node.values() else "NormalRank"
        expected = {node for node, rank in by_node.items() if rank == wanted}
        assert expected == best & by_node.keys()
        full, direct = (predicate.replace(PROP, f"{PROP}{path}/") for path in ("statement", "direct"))
        values = {value for node in expected for value in objects(described[node], node, full)}
        assert len(objects(described[subject], subject, direct)) == len(values)


@given(ids, st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_every_node_that_is_linked_is_described_and_the_other_way_round(
    make_entity: MakeEntity, entity: str, n: int
) -> None:
    graph = triples(make_entity(entity, n))
    subjects = {triple.subject.value for triple in graph}
    linked = {triple.object.value for triple in graph if isinstance(triple.object, NamedNode)}
    for base in (f"{ENTITY}statement/", "http://www.wikidata.org/reference/", "http://www.wikidata.org/value/"):
        assert {node for node in subjects if node.startswith(base)} == {
            node for node in linked if node.startswith(base)
        }


def test_reference_and_value_nodes_are_shared_between_entities(make_entity: MakeEntity) -> None:
    nodes: Counter[str] = Counter()
    for number in range(1, 120):
        graph = triples(make_entity(f"Q{number}"))
        nodes.update(
            {t.subject.value for t in graph if t.subject.value.startswith("http://www.wikidata.org/reference/")}
        )
    assert max(nodes.values()) > 1


def test_sizes_are_drawn_as_promised(make_entity: MakeEntity) -> None:
    counts = [statement_count(7, make_entity(f"Q{number}")) for number in range(1, 4001)]
    shares = [
        sum(low <= count <= high for count in counts) / 4000 for low, high in ((40, 60), (400, 600), (4000, 6000))
    ]
    assert shares == [pytest.approx(0.9, abs=0.02), pytest.approx(0.09, abs=0.02), pytest.approx(0.01, abs=0.005)]
    assert sum(shares) == 1


def test_page_properties_count(make_entity: MakeEntity) -> None:
    located = make_entity("Q2", 3)
    graph, node = triples(located), "https://www.wikidata.org/wiki/Special:EntityData/Q2"
    nodes = {t.subject for t in graph if t.object == NamedNode(f"{WIKIBASE}Statement")}
    assert objects(graph, node, f"{WIKIBASE}statements") == [str(len(nodes))]
    assert objects(graph, node, f"{WIKIBASE}sitelinks") == [str(len(sitelinks_of(7, located)))]
    assert objects(graph, node, f"{SCHEMA}version") == [str(located.revision.rev_id)]
    assert objects(graph, node, f"{SCHEMA}dateModified") == ["2026-01-01T03:00:00Z"]


def test_a_redirect_says_where_it_leads_and_which_revision_it_is(make_entity: MakeEntity) -> None:
    graph = triples(make_entity("Q9", 2, '{"entity": "Q9", "redirect": "Q2"}'))
    assert objects(graph, f"{ENTITY}Q9", "http://www.w3.org/2002/07/owl#sameAs") == [f"{ENTITY}Q2"]
    assert objects(graph, "https://www.wikidata.org/wiki/Special:EntityData/Q9", f"{SCHEMA}version") == ["36866"]
    assert len(graph) == 7


@given(st.lists(st.sampled_from(["Q4", "Q5", "Q42", "Q64"]), unique=True))
def test_an_item_has_the_sitelinks_of_merged_ones_where_it_has_none(make_entity: MakeEntity, merged: list[str]) -> None:
    source = {"type": "item", "id": "Q2", "merged": merged, "sitelinks": {"frwiki": {"title": ""}}}
    expected: Sitelinks = {}
    for item in ("Q2", *merged):
        expected = {**sitelinks_of(7, make_entity(item)), **expected}
    expected = {site: link for site, link in expected.items() if site != "frwiki"}
    located = make_entity("Q2", 3, json.dumps(source))
    assert sitelinks_of(7, located) == expected
    assert {title for _, title in names(triples(located))} >= {title for title, _ in expected.values()}


@pytest.mark.parametrize("group", ["labels", "descriptions", "sitelinks"])
def test_what_a_source_gives_replaces_what_is_drawn_and_an_empty_one_removes_it(
    make_entity: MakeEntity, group: str
) -> None:
    key = "enwiki" if group == "sitelinks" else "en"
    member = "title" if group == "sitelinks" else "value"
    predicate = {"labels": LABEL, "descriptions": f"{SCHEMA}description", "sitelinks": f"{SCHEMA}name"}[group]

    def said(value: str) -> set[str]:
        graph = triples(make_entity("Q2", 1, json.dumps({group: {key: {member: value}}})))
        return {t.object.value for t in graph if t.predicate.value == predicate and t.object.language == "en"}

    assert "Given" in said("Given")
    assert len(said("")) == len(said("Given")) - 1
    assert "Given" not in said("")


NO_LABELS = ["[]", '{"en": "x"}', '{"en": {"value": 1}}', '{"e n": {"value": "x"}}']
NO_SOURCES = ["", "x", "[]", '{"redirect": "X"}', '{"merged": ["X"]}']


@pytest.mark.parametrize("source", [*NO_SOURCES, *(f'{{"labels": {labels}}}' for labels in NO_LABELS)])
def test_another_source_is_refused(make_entity: MakeEntity, source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        EntityRdf("ttl").write(7, make_entity("Q2", 1, source))
