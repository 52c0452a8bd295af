"""Lives of pages must be plausible when read back from the events alone."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.traffic.generate import generate
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import Traffic


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
