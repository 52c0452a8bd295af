"""Pages become redirects and pages again, and the mock knows at which revision."""

import asyncio
from typing import Any, Final
from urllib.parse import quote, unquote

import orjson
import pytest

from devkit.scenario.traffic import ScenarioTraffic
from devkit.traffic.generate import generate
from devkit.traffic.life import sha1_of
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import Traffic
from mockapi.api.endpoint import Context
from mockapi.api.routes import find
from mockapi.clock import Clock
from mockapi.plan import NOTHING
from mockapi.server.reply import Reply
from mockapi.server.request import Request
from mockapi.world import World

SPEC: Final = TrafficSpec.model_validate(
    {
        "seed": 5,
        "rate": "20/s",
        "for": "20s",
        "population": 30,
        "wikis": {"enwiki": "en.wikipedia.org", "commonswiki": "commons.wikimedia.org"},
        "mix": {"redirect": 0.2, "move": 0.1, "create": 0.1},
    }
)


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    return generate(SPEC)


@pytest.fixture(scope="module")
def events(traffic: Traffic) -> list[dict[str, Any]]:
    return [orjson.loads(record.value) for record in traffic.records if record.expected.fate == "output"]


@pytest.fixture(scope="module")
def world() -> World:
    return World(SPEC.seed, ScenarioTraffic(SPEC).catalog(), (), Clock())


def ask(world: World, domain: str, path: str) -> tuple[Reply, bytes]:
    raw, _, query = path.partition("?")
    request = Request("GET", unquote(raw), raw, query, {"host": domain}, "192.0.2.1")
    context = Context(world, request, "id", NOTHING, lambda _: NOTHING)
    reply = asyncio.run(find(request, world).reply(context))
    return reply, b"".join(reply.body.pieces())


def text_of(title: str) -> str:
    return f"#REDIRECT [[{title}]]"


def test_as_many_edits_as_the_share_make_a_redirect_or_a_page_again(events: list[dict[str, Any]]) -> None:
    edits = [event for event in events if event["page_change_kind"] == "edit"]
    comments = [event["revision"].get("comment", "") for event in edits]
    made = sum(comment.startswith("Redirected page to [[") for comment in comments)
    removed = sum(comment.startswith("Removed redirect to [[") for comment in comments)
    assert made + removed == 80
    assert min(made, removed) > 20


def test_an_edit_that_makes_a_redirect_says_where_it_leads(traffic: Traffic, events: list[dict[str, Any]]) -> None:
    redirects = [event for event in events if event["page_change_kind"] == "edit" and event["page"]["is_redirect"]]
    assert redirects
    pages = {(page.wiki, page.page_id) for page in traffic.pages}
    for event in redirects:
        link, revision = event["page"]["redirect_page_link"], event["revision"]
        assert link.keys() == {"page_id", "page_title", "namespace_id", "is_redirect"}
        assert link["page_id"] != event["page"]["page_id"]
        assert (event["wiki_id"], link["page_id"]) in pages
        text = text_of(link["page_title"])
        assert (revision["rev_size"], revision["rev_sha1"]) == (len(text.encode()), sha1_of(text))
        assert revision["rev_sha1"] != event["prior_state"]["revision"]["rev_sha1"]


def test_an_edit_that_ends_a_redirect_has_the_redirect_before_it(events: list[dict[str, Any]]) -> None:
    redirects = {event["revision"]["rev_id"] for event in events if event["page"]["is_redirect"]}
    edits = [event for event in events if event["page_change_kind"] == "edit"]
    ended = [event for event in edits if event["revision"].get("comment", "").startswith("Removed redirect to [[")]
    assert ended
    for event in ended:
        assert (event["page"]["is_redirect"], "redirect_page_link" in event["page"]) == (False, False)
        assert event["prior_state"]["revision"]["rev_id"] in redirects


def test_the_mock_has_a_redirect_at_the_revisions_at_which_events_say_so(
    events: list[dict[str, Any]], world: World
) -> None:
    for event in events:
        if event["page_change_kind"] not in ("edit", "create"):
            continue
        path = f"/w/rest.php/v1/revision/{event['revision']['rev_id']}"
        reply, body = ask(world, event["meta"]["domain"], path)
        source = orjson.loads(body)["source"]
        link = event["page"].get("redirect_page_link")
        assert reply.status == 200
        assert source.startswith("#REDIRECT") is event["page"]["is_redirect"]
        if link is not None:
            assert source == text_of(link["page_title"])
            _, html = ask(world, event["meta"]["domain"], f"{path}/html")
            assert b'rel="mw:PageProp/redirect"' in html


def test_a_page_that_is_a_redirect_in_the_end_leads_to_its_target(events: list[dict[str, Any]], world: World) -> None:
    last = {(event["wiki_id"], event["page"]["page_id"]): event for event in events}
    redirects = [event for event in last.values() if event["page"]["is_redirect"]]
    assert len(redirects) > 5
    for event in redirects:
        title, target = event["page"]["page_title"], event["page"]["redirect_page_link"]["page_title"]
        reply, _ = ask(world, event["meta"]["domain"], f"/w/rest.php/v1/page/{quote(title, safe='')}/html")
        assert reply.status == 307
        assert reply.header(b"location") == f"/w/rest.php/v1/page/{quote(target, safe='')}/html"
