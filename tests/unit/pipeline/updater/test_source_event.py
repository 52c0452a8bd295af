"""What is read of the events of a Wikibase."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.jobs.message import SourceMessage
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position
from pipeline.schemas import PAGE_DELETE_URI, PAGE_UNDELETE_URI, RDF_RECONCILE_URI, REVISION_CREATE_URI, validator_of
from pipeline.updater.source_event import ACTIONS, EntityPages, SourceEvent, moment, parse_source_event

PAGES = EntityPages("www.wikidata.org")
APPENDED = datetime(2026, 3, 2, 9, 0, 1, 250_000, tzinfo=UTC)
POSITION = Position("eqiad.mediawiki.revision-create", 0, 4711)
ID, REQUEST_ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a", "b6a1b5e2-6c6f-4d5e-8d1c-1f2e3d4c5b6a"
META = {
    "domain": "www.wikidata.org",
    "dt": "2026-03-02T09:00:00.150Z",
    "id": ID,
    "request_id": REQUEST_ID,
    "stream": "mediawiki.revision-create",
}
PAGE = {
    "database": "wikidatawiki",
    "meta": META,
    "page_id": 138,
    "page_is_redirect": False,
    "page_namespace": 0,
    "page_title": "Q42",
    "rev_id": 124,
}
REVISION_CREATE = PAGE | {
    "$schema": REVISION_CREATE_URI,
    "dt": "2026-03-02T09:00:00Z",
    "rev_parent_id": 123,
    "rev_timestamp": "2026-03-02T09:00:00Z",
    "rev_slots": {"main": {"rev_slot_content_model": "wikibase-item", "rev_slot_sha1": "a", "rev_slot_size": 3}},
}
PAGE_DELETE = PAGE | {"$schema": PAGE_DELETE_URI, "rev_count": 9, "comment": "Does not meet the notability policy"}
PAGE_UNDELETE = PAGE | {"$schema": PAGE_UNDELETE_URI, "prior_state": {"page_id": 137}}
RECONCILE = {
    "$schema": RDF_RECONCILE_URI,
    "item": "Q42",
    "meta": META,
    "reconciliation_action": "CREATION",
    "reconciliation_source": "a-report",
    "revision_id": 124,
}
REDIRECT = REVISION_CREATE | {"page_is_redirect": True}
DELETION = RECONCILE | {"reconciliation_action": "DELETION"}


def message(document: Any, appended: datetime = APPENDED) -> SourceMessage:
    value = document if document is None or isinstance(document, bytes) else orjson.dumps(document)
    return SourceMessage(POSITION, None, value, appended)


def parsed(document: Any, appended: datetime = APPENDED) -> SourceEvent:
    event = parse_source_event(message(document, appended), PAGES)
    assert event is not None
    return event


@pytest.mark.parametrize(
    ("document", "action", "parent"),
    [
        (REVISION_CREATE, "revision-create", 123),
        (REDIRECT, "revision-create", 123),
        (REVISION_CREATE | {"rev_parent_id": 0}, "revision-create", None),
        (PAGE_DELETE, "page-delete", None),
        (PAGE_DELETE | {"rev_parent_id": "a field of no schema"}, "page-delete", None),
        (PAGE_UNDELETE, "page-undelete", None),
        (RECONCILE, "reconcile-creation", None),
        (DELETION, "reconcile-deletion", None),
    ],
    ids=["revision", "redirect", "first revision", "deletion", "other field", "undeletion", "to create", "to delete"],
)
def test_an_event_by_its_schema(document: dict[str, Any], action: str, parent: int | None) -> None:
    validator = validator_of(document["$schema"])
    assert validator is not None
    validator.validate(document)
    event = parsed(document)
    assert (event.entity, event.action, event.rev, event.parent) == ("Q42", action, 124, parent)
    assert (event.position, event.schema, event.stream) == (POSITION, document["$schema"], META["stream"])
    assert (event.event_id, event.request_id, event.domain) == (ID, REQUEST_ID, "www.wikidata.org")
    assert moment(event.time_ms) == datetime(2026, 3, 2, 9, 0, 0, 150_000, tzinfo=UTC)
    assert moment(event.appended_ms) == APPENDED


@pytest.mark.parametrize(
    ("changes", "entity"),
    [
        ({"page_title": "Property:P31", "page_namespace": 120}, "P31"),
        ({"page_title": "Lexeme:L4227", "page_namespace": 146}, "L4227"),
        ({"page_title": "Item:Q1"}, "Q1"),
        ({"page_title": "Q42", "page_namespace": 2}, None),
        ({"page_title": "Main Page"}, None),
        ({"page_title": "Lexeme:Help", "page_namespace": 146}, None),
        ({"meta": META | {"domain": "canary"}}, None),
        ({"meta": {"stream": "s"}}, None),
        ({"meta": META | {"domain": "en.wikipedia.org"}, "rev_id": "none of ours"}, None),
    ],
    ids=str,
)
def test_which_pages_are_entities(changes: dict[str, Any], entity: str | None) -> None:
    event = parse_source_event(message(REVISION_CREATE | changes), PAGES)
    assert (None if event is None else event.entity) == entity


def test_the_time_is_that_of_the_wiki_and_of_the_revision_where_there_is_no_other() -> None:
    imported = REVISION_CREATE | {"dt": "2019-01-01T00:00:00Z"}
    assert parsed(imported).time_ms == parsed(REVISION_CREATE).time_ms
    undated = imported | {"meta": {name: text for name, text in META.items() if name != "dt"}}
    assert moment(parsed(undated).time_ms) == datetime(2019, 1, 1, tzinfo=UTC)
    zoned = RECONCILE | {"meta": META | {"dt": "2026-03-02T10:00:00.150999+01:00"}}
    assert parsed(zoned).time_ms == parsed(REVISION_CREATE).time_ms


def test_a_record_without_a_time_came_when_its_event_happened() -> None:
    event = parsed(PAGE_DELETE, datetime(1970, 1, 1, tzinfo=UTC))
    assert event.appended_ms == event.time_ms


def test_a_minor_version_with_another_field_is_read() -> None:
    assert parsed(REVISION_CREATE | {"$schema": "/mediawiki/revision/create/2.1.0", "rev_mood": 1}).rev == 124


def test_no_text_of_an_event_makes_its_state_large() -> None:
    meta = META | {"request_id": "r" * 10**6, "stream": "s" * 10**6, "id": "i" * 10**6}
    kept = parsed(PAGE_DELETE | {"meta": meta, "comment": "c" * 10**6}).to_bytes()
    assert len(kept) < 1000


@pytest.mark.parametrize(
    ("document", "error_type", "text"),
    [
        (None, "malformed_json", "message of 0 bytes is not JSON"),
        (b"{", "malformed_json", "message of 1 bytes is not JSON: .*it begins '{'"),
        ([], "schema_violation", "it names no schema"),
        ({"$schema": 2}, "schema_violation", "it names no schema"),
        ({"$schema": REVISION_CREATE_URI}, "schema_violation", r"create/2.0.0 event at \(top\): "),
        (REVISION_CREATE | {"$schema": "/mediawiki/page/change/1.2.0"}, "unknown_schema", "change/1.2.0', not of "),
        (REVISION_CREATE | {"$schema": "no version"}, "unknown_schema", "'no version'"),
        (REVISION_CREATE | {"$schema": "/mediawiki/revision/create/3.0.0"}, "unknown_schema_version", "version 2 can"),
        (REVISION_CREATE | {"rev_id": 0}, "schema_violation", "at rev_id: 0 is no revision"),
        (REVISION_CREATE | {"rev_id": 2**53}, "schema_violation", "at rev_id: "),
        (RECONCILE | {"revision_id": 0}, "schema_violation", "at revision_id: 0 is no revision"),
        (RECONCILE | {"item": "Q0"}, "schema_violation", "at item: 'Q0' is no entity's id"),
        (PAGE_DELETE | {"meta": META | {"dt": "yesterday"}}, "schema_violation", "at meta/dt: "),
        (PAGE_DELETE | {"meta": META | {"dt": "2016-12-31T23:59:60Z"}}, "schema_violation", "no time that can be read"),
        (PAGE_DELETE | {"meta": META | {"dt": "0001-01-01T00:00:00+10:00"}}, "schema_violation", "no time that can"),
        (PAGE_UNDELETE | {"page_title": ""}, "schema_violation", "at page_title: "),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_invalid_event_is_refused_with_its_place(document: Any, error_type: str, text: str) -> None:
    with pytest.raises(InvalidEventError, match=text) as refused:
        parse_source_event(message(document), PAGES)
    assert refused.value.failure.error_type == error_type


def test_a_deletion_may_not_know_its_revision() -> None:
    assert parsed(DELETION | {"revision_id": 0}).rev == 0


TEXTS = st.text(max_size=9)


@given(
    event=st.builds(
        SourceEvent,
        entity=TEXTS,
        action=st.sampled_from(ACTIONS),
        rev=st.integers(0, 2**53 - 1),
        parent=st.none() | st.integers(1, 2**53 - 1),
        time_ms=st.integers(-(2**53), 2**53),
        appended_ms=st.integers(0, 2**53),
        position=st.builds(Position, TEXTS, st.integers(0, 99), st.integers(0, 2**63 - 1)),
        schema=TEXTS,
        stream=TEXTS,
        domain=TEXTS,
        event_id=st.none() | TEXTS,
        request_id=st.none() | TEXTS,
    )
)
def test_an_event_is_the_same_after_it_was_kept(event: SourceEvent) -> None:
    assert SourceEvent.from_bytes(event.to_bytes()) == event
