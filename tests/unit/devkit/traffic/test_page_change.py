"""What an event of each kind carries, and lives of pages that are plausible when read back from the events alone."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.traffic.canary import canary_of
from devkit.traffic.generate import generate
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
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


@dataclass
class _Life:
    """What the events so far say of one page; None is not known yet."""

    title: str | None = None
    rev_id: int = 0
    is_deleted: bool | None = None
    is_gone: bool = False
    flags: dict[str, bool] | None = None
    kinds: list[str] = field(default_factory=list)


def _events(traffic: Traffic) -> list[dict[str, Any]]:
    readable = [r for r in traffic.records if r.expected.fate == "output" or r.expected.reason == "content_model"]
    return [orjson.loads(record.value) for record in readable]


def _flags(revision: dict[str, Any]) -> dict[str, bool]:
    return {name: revision[name] for name in ("is_content_visible", "is_editor_visible", "is_comment_visible")}


def _live_through(life: _Life, event: dict[str, Any]) -> None:
    kind, revision, title = event["page_change_kind"], event["revision"], event["page"]["page_title"]
    assert not life.is_gone, "nothing happens to a suppressed page"
    prior = event.get("prior_state", {})
    if kind == "create":
        assert life.kinds == []
        assert "rev_parent_id" not in revision
    elif kind == "undelete":
        assert life.is_deleted is not False
    else:
        assert not life.is_deleted, f"{kind} of a deleted page"
    if kind in ("edit", "move"):
        assert revision["rev_parent_id"] >= life.rev_id
        assert revision["rev_id"] > revision["rev_parent_id"]
        assert prior["revision"]["rev_id"] == revision["rev_parent_id"]
        assert prior["revision"]["is_content_visible"], "nobody builds on content that is hidden"
    elif life.rev_id:
        assert revision["rev_id"] >= life.rev_id
    if kind == "visibility_change":
        changed = prior["revision"]
        assert changed
        assert all(revision[name] != before for name, before in changed.items())
        if life.flags is not None and life.rev_id == revision["rev_id"]:
            assert {**_flags(revision), **changed} == life.flags
    if life.title is not None:
        assert (prior["page"]["page_title"] if kind == "move" else title) == life.title
    life.title, life.rev_id, life.flags = title, revision["rev_id"], _flags(revision)
    life.is_deleted = kind == "delete"
    life.is_gone = kind == "delete" and "performer" not in event
    life.kinds.append(kind)


def _lives(traffic: Traffic) -> dict[tuple[str, int], _Life]:
    lives: defaultdict[tuple[str, int], _Life] = defaultdict(_Life)
    for event in _events(traffic):
        _live_through(lives[event["wiki_id"], event["page"]["page_id"]], event)
    return lives


def test_lives_are_plausible_and_eventful(mixed: Traffic) -> None:
    lives = _lives(mixed)
    assert any(life.kinds.count("undelete") and life.kinds.count("delete") for life in lives.values())
    assert any(life.kinds[:2] == ["create", "edit"] for life in lives.values())
    for page in mixed.pages:
        life = lives.get((page.wiki, page.page_id))
        assert life is None or life.title == page.title


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 20), st.sampled_from([0.02, 0.1, 0.2]))
def test_lives_stay_plausible_however_few_pages_there_are(seed: int, population: int, share: float) -> None:
    mix = dict.fromkeys(Mix.model_fields, 0.0)
    mix |= dict.fromkeys(("create", "move", "delete", "undelete", "visibility_change", "redirect"), share * 0.8)
    shape = {"seed": seed, "rate": "20/s", "for": "5s", "population": population, "mix": mix}
    assert _lives(generate(TrafficSpec.model_validate(shape)))


@pytest.mark.parametrize("kind", ["delete", "undelete", "move", "visibility_change", "not_wikitext", "redirect"])
def test_a_kind_alone_never_runs_out_of_pages(kind: str) -> None:
    nothing = dict.fromkeys(Mix.model_fields, 0.0)
    spec = TrafficSpec.model_validate(
        {"seed": 5, "rate": "60/s", "for": "1s", "population": 1, "mix": {**nothing, kind: 1.0}}
    )
    traffic = generate(spec)
    _lives(traffic)
    expected_kind = "edit" if kind in ("not_wikitext", "redirect") else kind
    assert [event["page_change_kind"] for event in _events(traffic)] == [expected_kind] * 60


def test_a_redirect_left_by_a_move_is_created_by_the_next_event(mixed: Traffic) -> None:
    events = _events(mixed)
    moves = [n for n, event in enumerate(events) if "created_redirect_page" in event]
    assert len(moves) > 20
    for n in moves:
        move, creation = events[n], events[n + 1]
        redirect = move["created_redirect_page"]
        assert move["page_change_kind"] == "move"
        assert redirect["page_title"] == move["prior_state"]["page"]["page_title"]
        assert creation["page_change_kind"] == "create"
        assert (creation["wiki_id"], creation["page"]["page_id"]) == (move["wiki_id"], redirect["page_id"])
        assert creation["page"]["page_title"] == redirect["page_title"]
        assert creation["page"]["is_redirect"]
        assert creation["page"]["redirect_page_link"]["page_title"] == move["page"]["page_title"]


def test_other_content_models_are_edited_again_and_again(mixed: Traffic) -> None:
    filtered = [r for r in mixed.records if r.expected.reason == "content_model"]
    events = [orjson.loads(record.value) for record in filtered]
    models = {event["revision"]["content_slots"]["main"]["content_model"] for event in events}
    assert models == {"javascript", "css", "json", "Scribunto"}
    assert len({event["page"]["page_id"] for event in events}) < len(events)
    by_id = {page.page_id: page.content_model for page in mixed.pages}
    assert {by_id[event["page"]["page_id"]] for event in events} == models
