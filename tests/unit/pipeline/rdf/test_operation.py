from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rdf.operation import ENTITY_ID, OPS, Operation, operation_id, parse_operation
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position
from pipeline.schemas import operation_validator

SOURCE = Position("mediawiki.revision-create", 0, 4711)
DIFF = Operation("Q42", "diff", 124, 123, "2026-03-02T09:00:00Z", 7, (SOURCE,))
INTEGERS = st.integers(1, 2**53 - 1)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    op = draw(st.sampled_from(OPS))
    sources = st.builds(Position, st.text("ab.-_", min_size=1), st.integers(0, 99), st.integers(0, 2**53 - 1))
    return Operation(
        entity=draw(st.from_regex(r"[QPLM][1-9][0-9]{0,9}", fullmatch=True)),
        op=op,
        rev=draw(INTEGERS),
        from_rev=draw(INTEGERS) if op == "diff" else None,
        dt="2026-03-02T09:00:00.150Z",
        seq=draw(INTEGERS),
        sources=tuple(draw(st.lists(sources, min_size=1, max_size=3))),
    )


def changed(**changes: Any) -> bytes:
    return orjson.dumps(orjson.loads(DIFF.value()) | changes)


@given(operation=operations())
def test_an_operation_is_the_same_after_writing_and_reading(operation: Operation) -> None:
    operation_validator().validate(orjson.loads(operation.value()))
    assert parse_operation(operation.value()) == operation


def test_the_record_of_an_operation() -> None:
    assert DIFF.key == b"Q42"
    assert orjson.loads(DIFF.value()) == {
        "entity": "Q42",
        "op": "diff",
        "rev": 124,
        "from_rev": 123,
        "dt": "2026-03-02T09:00:00Z",
        "seq": 7,
        "id": "33cf9493-1e02-5d88-b5e6-d8c84a703c71",
        "sources": [["mediawiki.revision-create", 0, 4711]],
    }


@pytest.mark.parametrize("entity", ["Q1", "P31", "L123", "M9", "Q0", "q1", "Q", "Q1 ", "Q1-F1", "Q" + "9" * 20])
def test_schema_and_pattern_agree_on_the_id_of_an_entity(entity: str) -> None:
    is_valid = operation_validator().is_valid(orjson.loads(changed(entity=entity)))
    assert is_valid is (ENTITY_ID.fullmatch(entity) is not None)


def test_the_id_is_of_entity_revision_op_and_seq() -> None:
    ids = {
        operation_id("Q42", 124, "diff", 7),
        operation_id("Q4", 124, "diff", 7),
        operation_id("Q42", 12, "diff", 7),
        operation_id("Q42", 124, "import", 7),
        operation_id("Q42", 124, "diff", 8),
    }
    assert len(ids) == 5
    assert DIFF.id in ids


@pytest.mark.parametrize(
    ("value", "error_type", "message"),
    [
        (None, "malformed_json", "operation of 0 bytes is not JSON"),
        (b"{", "malformed_json", "operation of 1 bytes is not JSON: .*it begins '{'"),
        (b"[]", "schema_violation", r"not a /enrichment/rdf_operation/1.0.0 at \(top\): "),
        (changed(rev="124"), "schema_violation", "at rev: "),
        (changed(sources=[["topic", 0, 1], ["topic", "0", 1]]), "schema_violation", "at sources/1/1: "),
        (changed(op="import"), "schema_violation", r"at \(top\): "),
        (changed(seq=8), "schema_violation", "at id: .* is not .*, the id of entity, rev, op and seq"),
    ],
)
def test_an_invalid_operation_is_refused_with_its_place(value: bytes | None, error_type: str, message: str) -> None:
    with pytest.raises(InvalidEventError, match=message) as refused:
        parse_operation(value)
    assert refused.value.failure.error_type == error_type
