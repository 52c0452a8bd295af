"""Each kind of change as an event, against the mock's feed, the schema and what EventBus puts into it."""

import json
from dataclasses import fields
from typing import Any

import pytest
from pydantic import BaseModel

from devkit.event_bus import mock_feed
from devkit.event_bus.mock_feed import FeedEntry
from devkit.event_bus.page_change_event import event_id, page_change_record
from mockapi.journal import page_feed
from mockapi.wiki.edits import page_change
from pipeline.schemas import page_change_validator

FEED = "2026-11-27T04:00:00.000000+00:00"
AT = "2026-11-27T05:06:07.890123Z"
ADMIN = {"name": "Admin", "id": 1, "groups": ["sysop", "*", "user"]}
BOT = {"name": "Ottobot", "id": 7, "groups": ["bot", "*", "user"]}
ADDRESS = {"name": "192.0.2.7", "id": 0, "groups": ["*"]}
PAGE = {"page_id": 2, "namespace_id": 0, "title": "Old_quay", "content_model": "wikitext", "revision_count": 2}
LEADS = {"redirect": {"namespace_id": 0, "title": "Old_quay"}}
PIER = PAGE | LEADS | {"page_id": 3, "title": "Pier", "revision_count": 1}
GONE = {"changelog_kind": "delete", "comment": "gone", "dt": "2026-11-27T05:06:07Z"}


def revision(n: int, **more: Any) -> dict[str, Any]:
    rev_id = 2 * 4096 + n
    return {
        "rev_id": rev_id,
        "parent_id": rev_id - 1 if n > 1 else 0,
        "content_rev_id": rev_id,
        "timestamp": "2026-11-27T05:06:00Z",
        "user": ADMIN,
        "comment": "said",
        "minor": False,
        "size": 3,
        "sha1": "fe05bcdcdc4928012781a5f1a2a77cbb5398e106",
        **more,
    }


def event(kind: str, **more: Any) -> dict[str, Any]:
    change = {
        "kind": kind,
        "wiki": "enwiki",
        "domain": "en.wikipedia.org",
        "at": AT,
        "request_id": "of the client",
        "page": PAGE,
        "revision": revision(2),
        "performer": ADMIN,
        **more,
    }
    record = page_change_record(FEED, FeedEntry.model_validate({"n": 5, "epoch": 1, "change": change}))
    made: dict[str, Any] = json.loads(record.value)
    page_change_validator().validate(made)
    return made


MOVED = {"reason": "why", "before": revision(1), "place_before": {"namespace_id": 1, "title": "Talk:Pier"}}
HIDDEN = {"before": revision(2), "revision": revision(2, hidden=["user", "comment"])}
SUPPRESSED = {"before": revision(2), "revision": revision(2, hidden=["user"], suppressed=True)}
DELETED_SUPPRESSED = {
    "reason": "gone",
    "before": revision(2, hidden=["user"]),
    "revision": revision(2, hidden=["text", "user", "comment"], suppressed=True),
}
DELETED_OF_SUPPRESSED = {"reason": "gone", "revision": revision(2, hidden=["user"], suppressed=True)}
SHOWN_AGAIN = {"before": revision(2, hidden=["user"], suppressed=True)}

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "create": ("create", {"revision": revision(1)}, {"changelog_kind": "insert", "dt": "2026-11-27T05:06:00Z"}),
    "edit": ("edit", {"before": revision(1)}, {"changelog_kind": "update", "dt": "2026-11-27T05:06:00Z"}),
    "move": ("move", MOVED, {"changelog_kind": "update", "comment": "why"}),
    "move with redirect": (
        "move",
        {**MOVED, "created_redirect": PIER},
        {"created_redirect_page": {"page_id": 3, "page_title": "Pier", "namespace_id": 0, "is_redirect": True}},
    ),
    "delete": ("delete", {"reason": "gone"}, GONE),
    "suppressed deletion": ("delete", DELETED_SUPPRESSED, GONE),
    "deletion of a suppressed revision": ("delete", DELETED_OF_SUPPRESSED, GONE),
    "undelete": ("undelete", {"reason": ""}, GONE | {"changelog_kind": "insert", "comment": ""}),
    "visibility": ("visibility", HIDDEN, {"changelog_kind": "update", "dt": "2026-11-27T05:06:07Z"}),
    "suppression": ("visibility", SUPPRESSED, {"page_change_kind": "visibility_change"}),
    "shown again": ("visibility", SHOWN_AGAIN, {"page_change_kind": "visibility_change"}),
}


@pytest.mark.parametrize("case", CASES)
def test_each_kind_is_valid_and_has_its_fields(case: str) -> None:
    kind, change, expected = CASES[case]
    made = event(kind, **change)
    assert {name: made.get(name) for name in expected} == expected
    assert made["page_change_kind"] == ("visibility_change" if kind == "visibility" else kind)
    assert made["meta"] == {
        "stream": "mediawiki.page_change.v1",
        "dt": "2026-11-27T05:06:07.890Z",
        "id": str(event_id(FEED, 5)),
        "domain": "en.wikipedia.org",
        "uri": "https://en.wikipedia.org/wiki/Old_quay",
        "request_id": "of the client",
    }


@pytest.mark.parametrize(
    ("case", "prior", "has_performer", "revision_count"),
    [
        ("create", None, True, None),
        ("edit", {"revision": 8193}, True, None),
        ("move", {"page": {"page_title": "Talk:Pier", "namespace_id": 1}, "revision": 8193}, True, None),
        ("delete", None, True, 2),
        (
            "suppressed deletion",
            {"revision": {"is_content_visible": True, "is_editor_visible": False, "is_comment_visible": True}},
            False,
            2,
        ),
        ("deletion of a suppressed revision", None, True, 2),
        ("undelete", None, True, None),
        ("visibility", {"revision": {"is_editor_visible": True, "is_comment_visible": True}}, True, None),
        ("suppression", {"revision": {"is_editor_visible": True}}, False, None),
        ("shown again", {"revision": {"is_editor_visible": False}}, False, None),
    ],
)
def test_what_was_there_before_and_who_did_it(
    case: str, prior: dict[str, Any] | None, has_performer: bool, revision_count: int | None
) -> None:
    kind, change, _ = CASES[case]
    made = event(kind, **change)
    shown = made.get("prior_state")
    if shown is not None and "rev_id" in shown.get("revision", {}):
        shown = {**shown, "revision": shown["revision"]["rev_id"]}
    assert shown == prior
    assert ("performer" in made) == has_performer
    assert made["page"].get("revision_count") == revision_count


def test_what_is_hidden_is_absent() -> None:
    hidden = event("visibility", **HIDDEN)["revision"]
    assert {"editor", "comment"} & hidden.keys() == set()
    flags = [hidden[f"is_{part}_visible"] for part in ("content", "editor", "comment")]
    assert flags == [True, False, False]


def test_a_suppressed_deletion_leaves_nothing_of_the_revision_but_its_id_and_time() -> None:
    assert event("delete", **DELETED_SUPPRESSED)["revision"] == {
        "rev_id": 8194,
        "rev_parent_id": 8193,
        "rev_dt": "2026-11-27T05:06:00Z",
        "is_minor_edit": False,
        "is_content_visible": False,
        "is_editor_visible": False,
        "is_comment_visible": False,
    }


def test_users_and_contents_are_those_of_mediawiki() -> None:
    page = {**PAGE, "content_model": "wikibase-item", "namespace_id": 6}
    made = event("create", page=page, revision=revision(2, user=ADDRESS), performer=BOT)
    assert made["performer"]["is_bot"]
    assert "user_id" not in made["revision"]["editor"]
    slots = made["revision"]["content_slots"]
    assert list(slots) == ["main"]
    assert slots["main"]["content_format"] == "application/json"
    assert int(slots["main"]["content_sha1"], 36) == int(revision(1)["sha1"], 16)
    assert len(slots["main"]["content_sha1"]) == 31


def test_a_redirect_says_where_it_leads() -> None:
    page = event("create", page=PIER)["page"]
    assert page["is_redirect"]
    assert page["redirect_page_link"] == {"page_title": "Old_quay", "namespace_id": 0, "is_redirect": False}


def test_the_key_is_wiki_and_page_and_a_change_is_always_the_same_bytes() -> None:
    change = {"kind": "delete", "wiki": "enwiki", "domain": "en.wikipedia.org", "at": AT, "request_id": "r"}
    entry = FeedEntry.model_validate(
        {"n": 5, "epoch": 1, "change": {**change, "page": PAGE, "revision": revision(2), "performer": ADMIN}}
    )
    record = page_change_record(FEED, entry)
    assert (record.topic, record.timestamp_ms) == ("mediawiki.page_change.v1", None)
    assert record.key == b'{"wiki_id":"enwiki","page_id":2}'
    assert page_change_record(FEED, entry) == record
    assert page_change_record("another", entry).value != record.value


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (mock_feed.FeedPage, page_feed.FeedPage),
        (mock_feed.FeedEntry, page_feed.FeedEntry),
        (mock_feed.PageChange, page_change.PageChange),
        (mock_feed.ChangedPage, page_change.ChangePage),
        (mock_feed.ChangedRevision, page_change.ChangeRevision),
        (mock_feed.FeedPlace, page_change.ChangePlace),
        (mock_feed.FeedUser, page_change.ChangeUser),
    ],
)
def test_both_have_the_same_fields(read: type[BaseModel], said: Any) -> None:
    assert set(read.model_fields) == {field.name for field in fields(said)}
