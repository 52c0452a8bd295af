"""Mutations of another producer: below another concept base, and with terms that no store takes."""

import pyoxigraph
import pytest

from pipeline.errors import UnreadableSourceError
from pipeline.metrics import apply_catalogue as metrics
from pipeline.metrics.measurements import Recorder
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.record import Record
from tests.unit.pipeline.apply.fake_parts import (
    FakeTopic,
    StoreTarget,
    applier_of,
    apply_until_idle,
    operation_records,
    place_records,
)
from tests.unit.pipeline.apply.mutations import TOPIC, store_with, triples_in
from tests.unit.pipeline.apply.test_applier import DELETE_Q1, OF_Q1_AT_1, edit_records, logged
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of

VERSION_OF_Q1 = edit_records("Q1", 1, "", "wd:Q1 schema:version 1 .")
OTHER_BASE = "<https://wiki.example/entity/Q1> <http://schema.org/version> 1 ."


@pytest.mark.parametrize(
    ("base", "records", "stored", "told"),
    [
        ("http://wiki.example/", [*VERSION_OF_Q1, *DELETE_Q1], "", None),
        ("http://wiki.example", DELETE_Q1, "", None),
        ("http://wiki.example", DELETE_Q1, OTHER_BASE + "wd:Q2 schema:version 1 .", None),
        ("https://wiki.example", VERSION_OF_Q1, "", f"record {TOPIC}/0/0 has Q1 below http://wiki.example"),
        ("http://wiki.example:80", VERSION_OF_Q1, OTHER_BASE, "has Q1 below http://wiki.example"),
        ("http://wiki.example", DELETE_Q1, OTHER_BASE, "the store has its entities below https://wiki.example"),
    ],
    ids=["slash", "delete", "delete of several wikis", "https", "port", "delete of https"],
)
def test_another_concept_base_is_refused_before_anything_is_applied(
    base: str, records: list[Record], stored: str, told: str | None
) -> None:
    target = StoreTarget(store_with(stored))
    applier = applier_of(FakeTopic(place_records(records)), target, concept_base=base)
    if told is None:
        apply_until_idle(applier)
        return
    with pytest.raises(UnreadableSourceError, match=f"{told}; apply.concept_base is {base}$") as refused:
        apply_until_idle(applier)
    assert (refused.value.exit_code, target.updates) == (2, [])


def test_terms_that_no_store_takes_do_not_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Another producer writes what Wikibase has: what it deletes is what it added."""
    node, label = f"{NAMESPACES.entity}Q1>", "<http://www.w3.org/2000/01/rdf-schema#label>"
    urls = [f"{node} {NAMESPACES.property}direct/P1> <http://e.org/{path}> ." for path in ("a[1]", "b[2]", "100%25")]
    tag = f'{node} {label} "ship"@zh-classical .'
    (version,) = triples_of(OF_Q1_AT_1)
    diffs = TripleDiff(added=(version, *urls[:2], tag)), TripleDiff(added=tuple(urls[2:]), deleted=(urls[0], tag))
    operations = zip(("import", "diff"), diffs, strict=True)
    records = place_records(
        record for seq, (op, diff) in enumerate(operations, 1) for record in operation_records("Q1", op, seq, diff)
    )
    store, recorder = pyoxigraph.Store(), Recorder()
    apply_until_idle(applier_of(FakeTopic(records), StoreTarget(store), recorder=recorder, batch_triples=1))
    assert triples_in(store) == {version, urls[1].replace("[2]", "%5B2%5D"), urls[2]}
    lines = [line for line in logged(capsys) if line["event"] == "invalid_terms"]
    assert [(line["entity"], line["revision"], line["encoded"], line["left_out"]) for line in lines] == [
        ("Q1", 1, 2, 1),
        ("Q1", 2, 1, 1),
    ]
    counts = recorder.measurements().counts
    assert [counts[metrics.INVALID_TERMS.name, (outcome,)] for outcome in ("encoded", "left_out")] == [3, 2]
