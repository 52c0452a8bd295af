import json
from pathlib import Path
from typing import Any

import pytest

from pipeline import schemas
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.schemas import (
    EDIT_COUNT_URI,
    ERROR_URI,
    FETCH_FAILURE_URI,
    HTML_CHANGE_URI,
    LAPSED_URI,
    OPERATION_URI,
    PAGE_CHANGE_URI,
    PAGE_DELETE_URI,
    PAGE_UNDELETE_URI,
    RDF_CHANGE_URI,
    RDF_LAPSED_URI,
    RDF_RECONCILE_URI,
    REVISION_CREATE_URI,
    STATE_INCONSISTENCY_URI,
    error_validator,
    fetch_failure_validator,
    known_fields_validator,
    operation_validator,
    page_change_validator,
    rdf_change_validator,
    used_fields_validator,
    validator_of,
)

PAGE_CHANGE: dict[str, Any] = {
    "$schema": PAGE_CHANGE_URI,
    "meta": {
        "stream": "mediawiki.page_change.v1",
        "dt": "2026-03-02T09:00:00.150Z",
        "uri": "https://e.org/wiki/%C3%84",
    },
    "changelog_kind": "update",
    "page_change_kind": "edit",
    "dt": "2026-03-02T09:00:00Z",
    "wiki_id": "enwiki",
    "page": {"page_id": 1, "page_title": "Äpfel"},
    "revision": {"rev_id": 4097, "rev_dt": "2026-03-02T09:00:00Z", "content_slots": {"main": {"slot_role": "main"}}},
    "prior_state": {"page": {"page_title": "Apfel"}, "revision": {"rev_size": 3}, "left_open": True},
}
ERROR: dict[str, Any] = {
    "$schema": ERROR_URI,
    "meta": {"stream": "mw_enrich.error"},
    "dt": "2026-03-02T09:00:00Z",
    "emitter_id": "mw_enrich",
    "message": "no such revision",
}
OPERATION: dict[str, Any] = {
    "entity": "Q42",
    "op": "import",
    "rev": 124,
    "dt": "2026-03-02T09:00:00Z",
    "seq": 1,
    "id": "00000000-0000-5000-8000-000000000000",
    "sources": [["mediawiki.revision-create", 0, 4711]],
}
RDF_CHANGE: dict[str, Any] = {
    "$schema": RDF_CHANGE_URI,
    "meta": {"stream": "rdf-streaming-updater.mutation"},
    "dt": "2026-03-02T09:00:00Z",
    "entity_id": "Q42",
    "operation": "import",
    "rev_id": 124,
    "sequence": 0,
    "sequence_length": 1,
}


FETCH_FAILURE = {
    "$schema": FETCH_FAILURE_URI,
    "meta": {"stream": "failures", "dt": "2026-03-02T09:00:00Z"},
    "item": "Q42",
    "op_type": "import",
    "revision_id": 124,
    "fetch_error_type": "ENTITY_NOT_FOUND",
    "exception_type": "revision_not_found",
    "exception_msg": "status 404",
    "original_ingestion_dt": "2026-03-02T09:00:00Z",
    "original_event_info": {"$schema": OPERATION_URI, "meta": {"stream": "operations", "dt": "2026-03-02T09:00:00Z"}},
}


def test_validators_are_compiled_once() -> None:
    assert page_change_validator() is page_change_validator()
    assert error_validator() is error_validator()


MINIMAL = {
    "page change": (page_change_validator, PAGE_CHANGE, set(PAGE_CHANGE) - {"prior_state"}),
    "error": (error_validator, ERROR, set(ERROR)),
    "operation": (operation_validator, OPERATION, set(OPERATION)),
    "rdf change": (rdf_change_validator, RDF_CHANGE, set(RDF_CHANGE)),
    "fetch failure": (fetch_failure_validator, FETCH_FAILURE, set(FETCH_FAILURE)),
}
OUT_OF_BOUNDS: dict[str, list[dict[str, Any]]] = {
    "page change": [
        {"revision": None},
        {"unknown": 1},
        {"dt": "yesterday"},
        {"dt": "2026-03-02T09:00:00." + "0" * 120 + "Z"},
        {"meta": {"stream": "s", "uri": "not a uri"}},
        {"meta": {"stream": "s", "uri": "/" + "a" * 8192}},
        {"meta": {"stream": ""}},
        {"page_change_kind": "suppress"},
        {"changelog_kind": "upsert"},
        {"page": {"page_id": 2**53, "page_title": "A"}},
        {"page": {"page_id": -1, "page_title": "A"}},
        {"page": {"page_id": 1, "page_title": ""}},
        {"page": {"page_id": 1, "page_title": "A", "touched": True}},
        {"revision": {"rev_id": 0, "rev_dt": "2026-03-02T09:00:00Z"}},
        {"revision": {"rev_id": 1}},
        {"created_redirect_page": {"page_id": 1}},
        {"performer": {"user_text": "A", "groups": [""]}},
        {"prior_state": {"revision": {"rev_id": "1"}}},
    ],
    "error": [{"unknown": 1}, {"dt": "yesterday"}, {"raw_event": {"a": 1}}, {"meta": {}}],
    "operation": [
        *({"unknown": 1}, {"entity": "42"}, {"entity": "Q0"}, {"op": "edit"}, {"op": "diff"}, {"from_rev": 123}),
        *({"rev": 0}, {"rev": 2**53}, {"dt": "yesterday"}, {"seq": 0}, {"id": "42"}, {"sources": []}),
        *({"sources": [["topic", *place]]} for place in ([0], [0, -1], [0, 1, 2])),
    ],
    "rdf change": [
        *({"unknown": 1}, {"operation": "edit"}, {"sequence_length": 0}, {"sequence": -1}, {"dt": "yesterday"}),
        {"meta": {"stream": ""}},
        {"rdf_added_data": {"data": ""}},
        {"rdf_added_data": {"data": "", "mime_type": "text/turtle", "size": 0}},
        {"rdf_unlinked_shared_data": "text"},
    ],
    "fetch failure": [
        {"unknown": 1},
        {"op_type": "edit"},
        {"fetch_error_type": "NOT_FOUND"},
        {"revision_id": -1},
        {"from_revision_id": 2**53},
        {"meta": {"stream": "failures"}},
        {"original_event_info": {"$schema": OPERATION_URI}},
        {"original_ingestion_dt": "yesterday"},
    ],
}


@pytest.mark.parametrize("kind", MINIMAL)
def test_a_minimal_event_is_valid_and_each_of_its_required_members_is_required(kind: str) -> None:
    validator, event, required = MINIMAL[kind]
    validator().validate(event)
    valid_without = {name for name in event if validator().is_valid({k: v for k, v in event.items() if k != name})}
    assert valid_without == set(event) - required


@pytest.mark.parametrize(
    ("kind", "change"), [(kind, one) for kind, many in OUT_OF_BOUNDS.items() for one in many], ids=str
)
def test_an_event_out_of_bounds_is_refused(kind: str, change: dict[str, Any]) -> None:
    validator, event, _ = MINIMAL[kind]
    assert not validator().is_valid({**event, **change})


@pytest.mark.parametrize(
    "change", [{"unknown": 1}, {"page": {"page_id": 1, "page_title": "A", "touched": True}}], ids=str
)
def test_a_field_that_was_added_later_is_refused_by_the_closed_schema_alone(change: dict[str, Any]) -> None:
    event = {**PAGE_CHANGE, **change}
    assert not page_change_validator().is_valid(event)
    known_fields_validator().validate(event)
    used_fields_validator().validate(event)


@pytest.mark.parametrize(
    ("change", "is_used"),
    [
        ({"dt": "yesterday"}, True),
        ({"meta": {"stream": "s", "domain": ""}}, True),
        ({"page_change_kind": "suppress"}, True),
        ({"page": {"page_id": -1, "page_title": "A"}}, True),
        ({"revision": {"rev_id": 0, "rev_dt": "2026-03-02T09:00:00Z"}}, True),
        ({"prior_state": {"revision": {"rev_id": "1"}}}, True),
        ({"changelog_kind": "upsert"}, False),
        ({"performer": {"user_text": "A", "groups": [""]}}, False),
        ({"revision": {"rev_id": 1}}, False),
    ],
    ids=str,
)
def test_fields_that_are_used_are_validated_without_the_others(change: dict[str, Any], *, is_used: bool) -> None:
    event = {**PAGE_CHANGE, **change}
    assert not known_fields_validator().is_valid(event)
    assert used_fields_validator().is_valid(event) is not is_used


STATED = {
    "page_change.json": PAGE_CHANGE_URI,
    "page_html_content_change.json": HTML_CHANGE_URI,
    "error.json": ERROR_URI,
    "lapsed_action.json": LAPSED_URI,
    "page_edit_count.json": EDIT_COUNT_URI,
    "rdf_operation.json": OPERATION_URI,
    "rdf_change.json": RDF_CHANGE_URI,
    "fetch_failure.json": FETCH_FAILURE_URI,
    "revision_create.json": REVISION_CREATE_URI,
    "page_delete.json": PAGE_DELETE_URI,
    "page_undelete.json": PAGE_UNDELETE_URI,
    "rdf_reconcile.json": RDF_RECONCILE_URI,
    "rdf_lapsed_action.json": RDF_LAPSED_URI,
    "state_inconsistency.json": STATE_INCONSISTENCY_URI,
}


@pytest.mark.parametrize(("name", "uri"), STATED.items())
def test_a_schema_has_the_id_that_its_events_name(name: str, uri: str) -> None:
    schema = json.loads((Path(schemas.__file__).parent / name).read_text())
    assert schema["$id"] == uri
    assert validator_of(uri) is not None


def test_each_stream_of_each_job_has_its_schema() -> None:
    """As a stream's configuration needs it: by the topics that the jobs write to by default."""
    streams = json.loads((Path(schemas.__file__).parent / "streams.json").read_text())
    outputs = {"html-enrichment": HTML_CHANGE_URI, "content-enrichment": PAGE_CHANGE_URI, "edit-counts": EDIT_COUNT_URI}
    expected = {}
    for name, job in JOB_DEFAULTS.items():
        if name in outputs:
            lapsed = f"{job.error_topic.removesuffix('.error')}.lapsed"
            expected |= {job.output_topic: outputs[name], job.error_topic: ERROR_URI, lapsed: LAPSED_URI}
    assert {stream: of["schema"] for stream, of in streams.items()} == expected
    for of in streams.values():
        assert of["schema"].strip("/").rpartition("/")[0] == of["schema_title"]


def test_our_schema_of_html_changes_says_of_the_source_what_its_events_are_held_to() -> None:
    """So each event that the job can read has a valid output."""
    room = Path(schemas.__file__).parent
    used, ours = (
        json.loads((room / name).read_text()) for name in ("page_change_used.json", "page_html_content_change.json")
    )
    for schema in (used, ours):
        for name in ("$id", "title", "description"):
            schema.pop(name, None)
        for name in ("$schema", "meta", "html_diff"):
            schema["properties"].pop(name, None)
        slot = schema["definitions"]["revision"]["properties"]["content_slots"]["additionalProperties"]
        slot["properties"].pop("content_body", None)
    assert ours == used
