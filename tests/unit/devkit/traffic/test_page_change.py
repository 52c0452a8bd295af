"""What an event of each kind carries, checked on generated traffic."""

from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from devkit.traffic.canary import canary_of
from devkit.traffic.moments import EPOCH
from devkit.traffic.page_change import kafka_key, page_uri
from devkit.traffic.records import Traffic
from pipeline import schemas
from pipeline.schemas import PAGE_CHANGE_URI, page_change_validator
from tests.unit.devkit.traffic.event_fields import generated_fields, never_generated, stated_fields

VISIBILITY = {"is_content_visible", "is_editor_visible", "is_comment_visible"}


@pytest.fixture(scope="module")
def events(mixed: Traffic) -> list[dict[str, Any]]:
    return [orjson.loads(record.value) for record in mixed.records if record.expected.fate == "output"]


def _of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    found = [event for event in events if event["page_change_kind"] == kind]
    assert len(found) >= 20, f"the traffic shows too little of {kind}"
    return found


def test_every_event_is_valid_and_says_so(events: list[dict[str, Any]]) -> None:
    for event in events:
        page_change_validator().validate(event)
        assert event["$schema"] == PAGE_CHANGE_URI
        assert event["meta"]["stream"] == "mediawiki.page_change.v1"


@pytest.mark.parametrize(
    ("kind", "changelog_kind", "makes_revision", "has_prior"),
    [
        ("create", "insert", True, {False}),
        ("edit", "update", True, {True}),
        ("move", "update", True, {True}),
        ("delete", "delete", False, {True, False}),  # a suppressed one shows what could be seen before
        ("undelete", "insert", False, {False}),
        ("visibility_change", "update", False, {True}),
    ],
)
def test_what_each_kind_is_to_a_changelog_and_to_the_revision(
    events: list[dict[str, Any]], kind: str, changelog_kind: str, has_prior: set[bool], *, makes_revision: bool
) -> None:
    found = _of(events, kind)
    assert {event["changelog_kind"] for event in found} == {changelog_kind}
    assert {"prior_state" in event for event in found} == has_prior
    assert kind != "create" or not any("rev_parent_id" in event["revision"] for event in found)
    # A change that makes a revision happens when the revision does, another has a time of its own.
    assert all(event["dt"] >= event["revision"]["rev_dt"] for event in found)
    assert all(event["dt"] == event["revision"]["rev_dt"] for event in found) is makes_revision


def test_an_edit_carries_the_revision_before_and_no_reason(events: list[dict[str, Any]]) -> None:
    for event in _of(events, "edit"):
        before = event["prior_state"]["revision"]
        assert before["rev_id"] == event["revision"]["rev_parent_id"]
        assert {"rev_dt", "rev_sha1", "rev_size", "content_slots", "is_content_visible"} <= before.keys()
        assert "comment" not in event


def test_a_move_carries_where_the_page_was_and_keeps_its_content(events: list[dict[str, Any]]) -> None:
    moves = _of(events, "move")
    for event in moves:
        before, now = event["prior_state"]["page"], event["page"]
        assert before["page_title"] != now["page_title"]
        assert before.get("namespace_id") != now["namespace_id"]
        assert event["comment"]
        assert event["revision"]["rev_sha1"] == event["prior_state"]["revision"]["rev_sha1"]
        origin = event["revision"]["content_slots"]["main"]["origin_rev_id"]
        assert origin < event["revision"]["rev_id"]
    assert any("namespace_id" in event["prior_state"]["page"] for event in moves)
    assert any("created_redirect_page" not in event for event in moves)


def test_a_deletion_counts_what_it_archives(events: list[dict[str, Any]]) -> None:
    plain = [event for event in _of(events, "delete") if "performer" in event]
    for event in plain:
        assert event["page"]["revision_count"] == event["revision"]["rev_id"] % 4096
        assert event["comment"]
        assert "content_slots" in event["revision"]
        assert "prior_state" not in event


def test_a_suppressed_deletion_shows_next_to_nothing(events: list[dict[str, Any]]) -> None:
    suppressed = [event for event in _of(events, "delete") if "performer" not in event]
    assert len(suppressed) > 5
    for event in suppressed:
        assert event["revision"].keys() <= {"rev_id", "rev_parent_id", "rev_dt", "is_minor_edit", *VISIBILITY}
        assert not event["revision"]["is_content_visible"]
        assert event["prior_state"]["revision"]["is_content_visible"]


def test_what_is_hidden_is_absent(events: list[dict[str, Any]]) -> None:
    changes = _of(events, "visibility_change")
    for event in changes:
        revision = event["revision"]
        assert ("editor" in revision) == revision["is_editor_visible"]
        assert ("comment" in revision) == revision["is_comment_visible"]
        assert event["prior_state"]["revision"].keys() <= VISIBILITY
    for name in VISIBILITY:
        assert {event["revision"][name] for event in changes} == {True, False}
    assert any("performer" not in event for event in changes)


def test_an_anonymous_editor_has_no_account(events: list[dict[str, Any]]) -> None:
    editors = [event["revision"]["editor"] for event in events if "editor" in event["revision"]]
    anonymous = [editor for editor in editors if "user_id" not in editor]
    assert anonymous
    assert all("edit_count" not in editor and "registration_dt" not in editor for editor in anonymous)
    assert any(editor["is_bot"] for editor in editors)
    assert any(editor["is_temp"] for editor in editors)


def test_files_have_a_second_slot_that_is_not_wikitext(events: list[dict[str, Any]]) -> None:
    files = [event for event in events if event["page"]["namespace_id"] == 6 and "content_slots" in event["revision"]]
    assert files
    assert all(event["revision"]["content_slots"].keys() == {"main", "mediainfo"} for event in files)


def test_uris_are_ascii_and_lead_to_the_title() -> None:
    assert page_uri("ja.wikipedia.org", "利用者:東京_1?") == (
        "https://ja.wikipedia.org/wiki/%E5%88%A9%E7%94%A8%E8%80%85:%E6%9D%B1%E4%BA%AC_1%3F"
    )


def test_the_key_is_compact_json() -> None:
    assert kafka_key("enwiki", 7) == b'{"wiki_id":"enwiki","page_id":7}'


def test_a_canary_is_a_valid_event_known_by_its_domain() -> None:
    event = canary_of(EPOCH, UUID(int=5))
    page_change_validator().validate(event)
    assert event["meta"] == {
        "stream": "mediawiki.page_change.v1",
        "dt": "2026-03-02T09:00:00.150Z",
        "id": "00000000-0000-0000-0000-000000000005",
        "domain": "canary",
    }


def test_every_field_of_the_schema_occurs_with_its_type_or_is_documented() -> None:
    """The page on traffic lists those that generated events never have."""
    schema = orjson.loads((Path(schemas.__file__).parent / "page_change.json").read_bytes())
    stated, generated = stated_fields(schema), generated_fields()
    assert stated.keys() - generated.keys() == never_generated()
    assert {pointer: types for pointer, types in generated.items() if types != {stated.get(pointer)}} == {}
