"""Operations of generated entities: valid, numbered, each behind the one that it builds on."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.errors import UsageError
from devkit.observe.wikibase.entity_triples import Triple, entity_triples, is_shared
from devkit.scenario.traffic import ScenarioTraffic
from devkit.traffic.all_streams import generate_all
from devkit.traffic.entity_life import entity_id
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import SourceRecord, Traffic
from mockapi.wiki.catalog import Located
from mockapi.wiki.wikibase.entity_id import entity_id_of, is_entity
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from mockapi.wiki.wikibase.entity_source import EntitySource, read_source
from pipeline.rdf.operation import parse_operation
from tests.unit.mockapi.wiki.wikibase.conftest import NAMES

MIX = {"create": 0.1, "delete": 0.1, "undelete": 0.05, "not_json": 0.02, "not_schema": 0.02}
ARTICLE = "<http://schema.org/Article>"


def spec_of(**keys: Any) -> TrafficSpec:
    base = {"seed": 5, "rate": "100/s", "for": "3s", "population": 20, "mix": MIX}
    wikis = {"wikidatawiki": "www.wikidata.org"}
    return TrafficSpec.model_validate({"generator": "wikibase_change", "wikis": wikis, **base, **keys})


def traffic_of(**keys: Any) -> Traffic:
    return generate_all(spec_of(**keys))


@dataclass(frozen=True)
class Step:
    """An operation that is no delete, and the revision that it comes to."""

    entity: str
    located: Located
    source: EntitySource


def steps(**keys: Any) -> list[Step]:
    located = {
        revision.rev_id: Located(page, revision)
        for page in ScenarioTraffic(spec_of(**keys)).catalog()
        for revision in page.revisions
    }
    operations = [parse_operation(record.value) for record in whole(traffic_of(**keys))]
    return [
        Step(operation.entity, located[operation.rev], read_source(located[operation.rev]))
        for operation in operations
        if operation.op != "delete"
    ]


def whole(traffic: Traffic) -> list[SourceRecord]:
    return [record for record in traffic.records if record.expected.fate == "output" and not record.expected.repeat]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_each_operation_builds_on_the_one_before(seed: int) -> None:
    traffic = traffic_of(seed=seed)
    revisions = {entity_id(page.title): [revision.rev_id for revision in page.revisions] for page in traffic.pages}
    last: dict[str, tuple[int, int | None]] = {}
    ops = set()
    for record in whole(traffic):
        operation = parse_operation(record.value)
        sequence, in_store = last.get(operation.entity, (0, None))
        assert record.key == operation.key
        assert record.expected.event_id == operation.id
        assert operation.seq == sequence + 1
        assert operation.rev in revisions[operation.entity]
        if operation.op == "import":
            assert in_store is None
        else:
            assert in_store == (operation.from_rev if operation.op == "diff" else operation.rev)
        last[operation.entity] = operation.seq, None if operation.op == "delete" else operation.rev
        ops.add(operation.op)
    assert ops == {"import", "diff", "delete"}


def test_equal_seeds_give_equal_bytes_and_the_mix_its_counts() -> None:
    first, second = traffic_of(), traffic_of()
    assert first == second != traffic_of(seed=6)
    reasons = [record.expected.reason for record in first.records if record.expected.fate == "error"]
    assert sorted(filter(None, reasons)) == ["malformed_json"] * 6 + ["schema_violation"] * 6
    ops = [orjson.loads(record.value)["op"] for record in whole(first)]
    assert ops.count("delete") > 20


def test_the_mock_knows_the_entities_of_all_kinds() -> None:
    pages = ScenarioTraffic(spec_of()).catalog()
    assert all(is_entity(page) and page.namespace_id == NAMES[entity_id_of(page)[0]][0] for page in pages)
    kinds = Counter(entity_id_of(page)[0] for page in pages[:20])
    assert kinds == {"Q": 16, "P": 2, "L": 2}


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), population=st.integers(1, 30))
def test_a_redirect_is_the_last_that_becomes_of_an_entity(seed: int, population: int) -> None:
    sources: dict[str, list[EntitySource]] = {}
    for step in steps(seed=seed, population=population, mix={**MIX, "redirect": 0.1, "merge": 0.2}):
        sources.setdefault(step.entity, []).append(step.source)
    redirects = {entity: last.redirect for entity, (*_, last) in sources.items() if last.redirect}
    assert len(redirects) == 30 + 60 // 2
    for entity, target in redirects.items():
        assert entity != target
        assert entity[0] == target[0]
        assert entity[0] in "QL"
        assert not any(source.redirect for source in sources[entity][:-1])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(0, 30))
def test_the_two_of_a_merge_come_in_either_order_by_turns(seed: int, count: int) -> None:
    halves: list[tuple[str, str]] = []
    merged: dict[str, tuple[str, ...]] = {}
    for step in steps(seed=seed, mix={**MIX, "redirect": 0, "merge": count / 300}):
        before, now = merged.get(step.entity, ()), step.source.merged
        if step.source.redirect:
            halves.append(("redirect", step.entity))
        elif now != before:
            assert now[: len(before)] == before
            halves.append(("sitelinks", now[len(before)]))
            merged[step.entity] = now
    pairs = list(zip(halves[::2], halves[1::2], strict=True))
    assert len(pairs) == count // 2
    for number, ((first, item), (second, same_item)) in enumerate(pairs):
        assert item == same_item
        assert (first, second) == (("redirect", "sitelinks") if number % 2 else ("sitelinks", "redirect"))


def test_a_merge_moves_triples_of_sitelinks() -> None:
    documents: dict[str, frozenset[Triple]] = {}
    moved: dict[str, frozenset[Triple]] = {}
    lost = frozenset[Triple]()
    for step in steps(mix={**MIX, "redirect": 0, "merge": 0.2}, pages={"Q42": {}}):
        after = entity_triples(EntityRdf("nt").write(9, step.located), step.entity)
        before = documents.get(step.entity, frozenset())
        documents[step.entity] = after
        gained = frozenset(triple for triple in after - before if triple.object == ARTICLE)
        if step.source.redirect:
            lost |= {triple for triple in before if triple.object == ARTICLE}
        elif step.source.merged:
            moved[step.source.merged[0]] = moved.get(step.source.merged[0], frozenset()) | gained
    assert len(lost & frozenset[Triple]().union(*moved.values())) > 30


def test_ordinary_traffic_unlinks_what_other_entities_have() -> None:
    owned: dict[str, frozenset[Triple]] = {}
    owners: Counter[Triple] = Counter()
    unlinking = 0
    for step in steps(rate="20/s", **{"for": "10s"}, population=40, mix={}):
        triples = entity_triples(EntityRdf("nt").write(9, step.located), step.entity)
        before, after = owned.get(step.entity, frozenset()), frozenset(filter(is_shared, triples))
        owners.subtract(before)
        unlinking += any(owners[triple] for triple in before - after)
        owners.update(after)
        owned[step.entity] = after
    assert unlinking > 40


def test_named_entities_and_repeats() -> None:
    traffic = traffic_of(
        pages={"Q42": {"edits": 3}, "Q64": {"error": "revision_not_found"}, "Lexeme:L7": {}},
        repeats={"share": "5%", "after": "1s"},
    )
    assert [record.key for record in traffic.records].count(b"L7") == 1
    of_q42 = [parse_operation(record.value).op for record in whole(traffic) if record.key == b"Q42"]
    assert of_q42 == ["import", "diff", "diff"]
    (of_q64,) = [record.expected for record in traffic.records if record.key == b"Q64"]
    assert (of_q64.fate, of_q64.reason) == ("error", "revision_not_found")
    repeats = [record for record in traffic.records if record.expected.repeat]
    assert len(repeats) == 15
    firsts = {record.value: record for record in whole(traffic)}
    assert all(firsts[record.value].at < record.at for record in repeats)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"pages": {"Berlin": {}}}, "'Berlin' is no entity of a Wikibase"),
        ({"pages": {"Q042": {}}}, "'Q042' is no entity of a Wikibase"),
        ({"pages": {"P31": {}}}, "'P31' is no entity of a Wikibase"),
        ({"pages": {"Q42": {"event_bytes": 3000}}}, "an operation has one size"),
        ({"canaries": {"every": "1s"}}, "traffic.canaries: operations have none"),
        ({"pages": {"Q42": {}}, "patch": [{"page": "Q42", "set": {"op": "delete"}}]}, "traffic.patch"),
    ],
)
def test_what_operations_do_not_have_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        traffic_of(**keys)
