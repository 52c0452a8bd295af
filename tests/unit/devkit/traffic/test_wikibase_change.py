"""Operations of generated entities: valid, numbered, each behind the one that it builds on."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.errors import UsageError
from devkit.traffic.all_streams import generate_all
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import SourceRecord, Traffic
from mockapi.wiki.catalog import CatalogPage, CatalogRevision
from mockapi.wiki.wikibase.entity_id import entity_id_of
from pipeline.rdf.operation import parse_operation

MIX = {"create": 0.1, "delete": 0.1, "undelete": 0.05, "not_json": 0.02, "not_schema": 0.02}


def traffic_of(**keys: Any) -> Traffic:
    base = {"seed": 5, "rate": "100/s", "for": "3s", "population": 20, "mix": MIX}
    wikis = {"wikidatawiki": "www.wikidata.org"}
    return generate_all(TrafficSpec.model_validate({"generator": "wikibase_change", "wikis": wikis, **base, **keys}))


def whole(traffic: Traffic) -> list[SourceRecord]:
    return [record for record in traffic.records if record.expected.fate == "output" and not record.expected.repeat]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_each_operation_builds_on_the_one_before(seed: int) -> None:
    traffic = traffic_of(seed=seed)
    revisions = {page.title: [revision.rev_id for revision in page.revisions] for page in traffic.pages}
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


def test_the_mock_knows_the_entities() -> None:
    page = next(page for page in traffic_of().pages if len(page.revisions) > 2)
    revisions = tuple(
        CatalogRevision(rev_id=r.rev_id, parent_id=r.parent_id, timestamp=r.timestamp) for r in page.revisions
    )
    fields = {
        name: getattr(page, name) for name in ("wiki", "domain", "page_id", "namespace_id", "title", "content_model")
    }
    assert entity_id_of(CatalogPage(**fields, revisions=revisions)) == page.title


def test_named_entities_and_repeats() -> None:
    traffic = traffic_of(
        pages={"Q42": {"edits": 3}, "Q64": {"error": "revision_not_found"}}, repeats={"share": "5%", "after": "1s"}
    )
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
        ({"pages": {"Berlin": {}}}, "'Berlin' is no item of a Wikibase"),
        ({"pages": {"Q042": {}}}, "'Q042' is no item of a Wikibase"),
        ({"pages": {"Q42": {"event_bytes": 3000}}}, "an operation has one size"),
        ({"canaries": {"every": "1s"}}, "traffic.canaries: operations have none"),
        ({"pages": {"Q42": {}}, "patch": [{"page": "Q42", "set": {"op": "delete"}}]}, "traffic.patch"),
    ],
)
def test_what_operations_do_not_have_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        traffic_of(**keys)
