"""Operations, mutations and failed fetches: valid by their schemas, the same in a replay, and not too large."""

import uuid
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.jobs.message import SourceMessage
from pipeline.kafka.limit_rules import largest_error_event
from pipeline.rdf.chunks import join_chunks
from pipeline.rdf.fetch_failure import FETCH_ERROR_TYPES, fetch_failure_value
from pipeline.rdf.mutation import SEQ_HEADER, MutationRecord, mutation_records, read_chunk
from pipeline.rdf.operation import ENTITY_ID, OPS, Operation, operation_id, parse_operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.error_event import Failure
from pipeline.records.error_types import ERROR_TYPES, ErrorType
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from pipeline.schemas import RDF_CHANGE_URI, fetch_failure_validator, operation_validator, rdf_change_validator
from tests.unit.pipeline.making import make_config

TOPIC, DOMAIN = "rdf.mutation", "www.wikidata.org"
OPERATION = Operation("Q42", "diff", 124, 123, "2026-03-02T09:00:00Z", 7, (Position("source", 0, 1),))
SUBJECT = "<http://e.org/s> <http://e.org/p>"
SOURCE = Position("mediawiki.revision-create", 0, 4711)
DIFF = Operation("Q42", "diff", 124, 123, "2026-03-02T09:00:00Z", 7, (SOURCE,))
INTEGERS = st.integers(1, 2**53 - 1)
NOT_OF_A_FETCH: tuple[ErrorType, ...] = (
    "malformed_json",
    "schema_violation",
    "unknown_schema",
    "unknown_schema_version",
    "source_event_too_large",
    "record_without_time",
    "dropped_by_operator",
)
FAILED_DIFF = Operation(
    "Q64", "diff", 12, 11, "2026-03-02T09:00:00Z", 3, (Position("mediawiki.revision-create", 0, 4711),)
)
IMPORT = Operation("L7", "import", 12, None, FAILED_DIFF.dt, 1, FAILED_DIFF.sources)
MESSAGE = SourceMessage(Position("operations", 0, 7), b"Q64", b"", datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC))


def triples(*names: str) -> tuple[str, ...]:
    return tuple(f'{SUBJECT} "{name}" .' for name in names)


def records_of(diff: TripleDiff, **limits: int) -> list[MutationRecord]:
    return mutation_records(OPERATION, diff, topic=TOPIC, domain=DOMAIN, **limits)


def size(record: Record) -> int:
    return serialized_size(record.key, record.value, record.headers)


def read_all(records: list[MutationRecord]) -> TripleDiff:
    chunks = [read_chunk(made.record.value, made.record.headers, offset=at) for at, made in enumerate(records)]
    return join_chunks([chunk.diff for chunk in chunks])


def test_the_event_of_a_mutation() -> None:
    (made,) = records_of(TripleDiff(triples("a", "b"), triples("c"), (), triples("d")))
    record = made.record
    assert (record.topic, record.key, record.headers) == (TOPIC, b"Q42", ((SEQ_HEADER, b"0000000000000000007"),))
    assert orjson.loads(record.value) == {
        "$schema": RDF_CHANGE_URI,
        "meta": {
            "stream": TOPIC,
            "domain": DOMAIN,
            "id": str(uuid.uuid5(uuid.UUID(OPERATION.id), "0")),
            "request_id": OPERATION.id,
            "dt": "2026-03-02T09:00:00Z",
        },
        "dt": "2026-03-02T09:00:00Z",
        "entity_id": "Q42",
        "operation": "diff",
        "rev_id": 124,
        "sequence": 0,
        "sequence_length": 1,
        "rdf_added_data": {"mime_type": "text/turtle", "data": f'{SUBJECT} "a" .\n{SUBJECT} "b" .\n'},
        "rdf_deleted_data": {"mime_type": "text/turtle", "data": f'{SUBJECT} "c" .\n'},
        "rdf_unlinked_shared_data": {"mime_type": "text/turtle", "data": f'{SUBJECT} "d" .\n'},
    }


def test_an_operation_without_triples_has_one_event() -> None:
    (made,) = records_of(TripleDiff())
    assert not [name for name in orjson.loads(made.record.value) if name.startswith("rdf_")]
    assert read_chunk(made.record.value, made.record.headers, offset=0).diff == TripleDiff()


def test_chunks_differ_in_their_id_and_number_alone() -> None:
    made = records_of(TripleDiff(triples("a", "b"), triples("c")), characters=50)
    events = [orjson.loads(each.record.value) for each in made]
    assert [event["sequence"] for event in events] == [0, 1, 2]
    assert len({event["meta"].pop("id") for event in events}) == 3
    for event in events:
        for name in ("sequence", "rdf_added_data", "rdf_deleted_data"):
            event.pop(name, None)
    assert events[0] == events[1] == events[2]


def test_a_chunk_is_read_with_all_its_fields() -> None:
    made = records_of(TripleDiff(triples("a", "b")), characters=50)[1].record
    chunk = read_chunk(made.value, made.headers, offset=12)
    assert (chunk.entity, chunk.op, chunk.rev, chunk.seq, chunk.dt) == ("Q42", "diff", 124, 7, OPERATION.dt)
    assert (chunk.request_id, chunk.sequence, chunk.length, chunk.offset) == (OPERATION.id, 1, 2, 12)
    assert chunk.diff == TripleDiff(triples("b"))


def test_any_turtle_is_read() -> None:
    event = orjson.loads(records_of(TripleDiff())[0].record.value)
    event["rdf_added_data"] = {"mime_type": "text/turtle", "data": '@prefix e: <http://e.org/> . e:s e:p "a", "b" .'}
    chunk = read_chunk(orjson.dumps(event), ((SEQ_HEADER, b"1"),), offset=0)
    assert chunk.diff == TripleDiff(triples("a", "b"))


TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "S")), max_size=60)


@given(
    texts=st.lists(st.lists(TEXTS, max_size=5, unique=True), min_size=4, max_size=4),
    characters=st.integers(1, 300),
    extra_bytes=st.integers(0, 500),
)
def test_every_record_of_several_triples_is_valid_and_fits(
    texts: list[list[str]], characters: int, extra_bytes: int
) -> None:
    diff = TripleDiff(*(triples(*part) for part in texts))
    (empty,) = records_of(TripleDiff())
    limit = size(empty.record) + 300 + extra_bytes
    made = records_of(diff, characters=characters, max_record_bytes=limit)
    assert read_all(made) == diff
    for each in made:
        event = orjson.loads(each.record.value)
        rdf_change_validator().validate(event)
        chunk = read_chunk(each.record.value, each.record.headers, offset=0)
        assert each.is_too_large is (size(each.record) > limit)
        assert not each.is_too_large or len(chunk.diff) == 1


def test_a_triple_that_is_too_large_is_told_apart_from_those_that_fit() -> None:
    diff = TripleDiff(triples("a", "b" * 2_000, "c"))
    made = records_of(diff, max_record_bytes=1_500)
    assert [each.is_too_large for each in made] == [False, True, False]
    assert [each.is_too_large for each in records_of(diff)] == [False]


def changed(**changes: Any) -> bytes:
    return orjson.dumps(orjson.loads(records_of(TripleDiff(triples("a")))[0].record.value) | changes)


def with_turtle(part: str, data: str, mime_type: str = "text/turtle") -> bytes:
    return changed(**{part: {"mime_type": mime_type, "data": data}})


def of_schema(schema: str) -> bytes:
    return changed(**{"$schema": schema})


AT_12 = "mutation at offset 12"
NODE = f"{AT_12}: rdf_deleted_data/data has a blank node or a triple term"
INVALID: dict[str, tuple[bytes, bytes | None, str]] = {
    "JSON": (b"{", b"1", f"{AT_12} is not JSON: .*it begins '{{'"),
    "schema": (changed(rev_id="1"), b"1", f"{AT_12} is not a .* event at rev_id: "),
    "entity": (changed(entity_id="Q1> }"), b"1", f"{AT_12} has no entity's id at entity_id: 'Q1> }}'"),
    "no seq": (changed(), None, f"{AT_12} has no number in its header entity-seq: b''"),
    "seq": (changed(), b"-1", f"{AT_12} has no number in its header entity-seq: b'-1'"),
    "long seq": (changed(), b"1" * 5_000, "has no number in its header entity-seq: b'1+'$"),
    "request id": (changed(meta={"stream": "s"}), b"1", f"{AT_12} has no meta/request_id"),
    "sequence": (changed(sequence=1), b"1", f"{AT_12} has sequence 1 of 1"),
    "mime type": (
        with_turtle("rdf_added_data", "", "application/rdf+xml"),
        b"1",
        "rdf_added_data/mime_type 'application/rdf.xml'; only 'text/turtle' can be read",
    ),
    "Turtle": (
        with_turtle("rdf_added_data", "\n<a"),
        b"1",
        f"{AT_12}: rdf_added_data/data: no Turtle at line 2, column 1: ",
    ),
    "major version": (
        of_schema("/mediawiki/wikibase/entity/rdf_change/3.0.0"),
        b"1",
        f"{AT_12} is of schema '.*/3.0.0'; only .*/2.0.0 can be read",
    ),
    "other schema": (of_schema("/mediawiki/page/change/1.2.0"), b"1", "is of schema '/mediawiki/page/"),
    "node as subject": (with_turtle("rdf_deleted_data", "_:a <a:b> 1 ."), b"1", NODE),
    "node as object": (with_turtle("rdf_deleted_data", "<a:b> <a:b> _:a ."), b"1", NODE),
    "node without a label": (with_turtle("rdf_deleted_data", "<a:b> <a:b> [] ."), b"1", NODE),
    "triple term": (with_turtle("rdf_deleted_data", "<a:b> <a:b> <<( <a:> <a:b> 1 )>> ."), b"1", NODE),
}


@pytest.mark.parametrize(("value", "seq", "message"), INVALID.values(), ids=INVALID)
def test_an_invalid_chunk_is_refused_with_its_place(value: bytes, seq: bytes | None, message: str) -> None:
    with pytest.raises(InvalidEventError, match=message):
        read_chunk(value, () if seq is None else ((SEQ_HEADER, seq),), offset=12)


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


def changed_operation(**changes: Any) -> bytes:
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
    is_valid = operation_validator().is_valid(orjson.loads(changed_operation(entity=entity)))
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
        (changed_operation(rev="124"), "schema_violation", "at rev: "),
        (changed_operation(sources=[["topic", 0, 1], ["topic", "0", 1]]), "schema_violation", "at sources/1/1: "),
        (changed_operation(op="import"), "schema_violation", r"at \(top\): "),
        (changed_operation(seq=8), "schema_violation", "at id: .* is not .*, the id of entity, rev, op and seq"),
    ],
)
def test_an_invalid_operation_is_refused_with_its_place(value: bytes | None, error_type: str, message: str) -> None:
    with pytest.raises(InvalidEventError, match=message) as refused:
        parse_operation(value)
    assert refused.value.failure.error_type == error_type


def value_of(operation: Operation, failure: Failure, message: SourceMessage = MESSAGE, **of_job: str) -> bytes:
    of_job = {"topic": "failures", "domain": "www.wikidata.org", "emitter": "rdf-resolve"} | of_job
    value = fetch_failure_value(operation, failure, message, **of_job)
    assert value is not None
    return value


def test_it_says_what_was_asked_for_and_what_came() -> None:
    event = orjson.loads(value_of(FAILED_DIFF, Failure("revision_not_found", "revision 12: status 404")))
    fetch_failure_validator().validate(event)
    meta = event.pop("meta")
    assert (meta["stream"], meta["domain"], meta["request_id"]) == ("failures", "www.wikidata.org", FAILED_DIFF.id)
    assert event == {
        "$schema": "/rdf_streaming_updater/fetch_failure/1.2.0",
        "dt": "2026-03-02T09:00:01.000Z",
        "emitter_id": "rdf-resolve",
        "item": "Q64",
        "op_type": "diff",
        "revision_id": 12,
        "from_revision_id": 11,
        "fetch_error_type": "ENTITY_NOT_FOUND",
        "exception_type": "revision_not_found",
        "exception_msg": "revision 12: status 404",
        "original_ingestion_dt": "2026-03-02T09:00:01.000Z",
        "original_event_info": {
            "$schema": "/enrichment/rdf_operation/1.0.0",
            "meta": {"stream": "operations", "id": FAILED_DIFF.id, "dt": "2026-03-02T09:00:00Z"},
        },
    }


@pytest.mark.parametrize("error_type", NOT_OF_A_FETCH)
def test_another_failure_is_none_of_a_fetch(error_type: ErrorType) -> None:
    of_job = {"topic": "failures", "domain": "www.wikidata.org", "emitter": "rdf-resolve"}
    assert fetch_failure_value(IMPORT, Failure(error_type, "it says"), MESSAGE, **of_job) is None


@pytest.mark.parametrize("error_type", [of for of in ERROR_TYPES if of not in NOT_OF_A_FETCH])
def test_each_failure_of_a_fetch_has_its_type(error_type: ErrorType) -> None:
    event = orjson.loads(value_of(IMPORT, Failure(error_type, "it says")))
    fetch_failure_validator().validate(event)
    assert (event["exception_type"], event["fetch_error_type"]) == (error_type, FETCH_ERROR_TYPES[error_type])
    assert "from_revision_id" not in event


@given(text=st.text(max_size=2_000), appended=st.datetimes(timezones=st.just(UTC)))
def test_any_message_at_any_time_is_valid_and_repeated_by_a_replay(text: str, appended: datetime) -> None:
    message = SourceMessage(MESSAGE.position, MESSAGE.key, MESSAGE.value, appended)
    value = value_of(FAILED_DIFF, Failure("invalid_body", text), message)
    fetch_failure_validator().validate(orjson.loads(value))
    assert value == value_of(FAILED_DIFF, Failure("invalid_body", text), message)


def test_two_operations_have_two_ids() -> None:
    failure = Failure("fetch_failed", "")
    values = [value_of(operation, failure) for operation in (FAILED_DIFF, IMPORT)]
    assert len({orjson.loads(value)["meta"]["id"] for value in values}) == 2


@pytest.mark.parametrize("source_topic", ["s", "s" * 249])
def test_the_largest_is_no_larger_than_the_largest_error_event(source_topic: str) -> None:
    """Of the longest names that topics and hosts have, where the error event's are as short as they can be."""
    names: dict[str, Any] = {"error_topic": "e", "fetch_failure_topic": "f" * 249}
    config = make_config(job="rdf-resolve", source={"topic": source_topic}, sink=names)
    dt = f"2026-03-02T09:00:00.{'1' * 107}Z"
    assert len(dt) == 128
    operation = Operation("Q" + "9" * 19, "reconcile", 2**53 - 1, 2**53 - 1, dt, 2**53 - 1, FAILED_DIFF.sources)
    message = SourceMessage(Position(source_topic, 0, 7), operation.key, b"", MESSAGE.appended)
    failure = Failure("content_refused_by_upstream", '"' * 500)
    value = value_of(operation, failure, message, topic="f" * 249, domain="d" * 253, emitter=config.job)
    assert serialized_size(operation.key, value, message.output_headers(None)) <= largest_error_event(config)
