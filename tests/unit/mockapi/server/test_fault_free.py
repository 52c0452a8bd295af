import asyncio
import json
from datetime import UTC, datetime

import pytest

from mockapi.clock import Clock
from mockapi.rules.model import Rule
from mockapi.server.fault_free import get_fault_free
from mockapi.world import World
from tests.unit.mockapi.conftest import make_page

LATEST = 7 * 4096 + 3
SOURCE, HTML = f"/w/rest.php/v1/revision/{LATEST}", f"/w/rest.php/v1/revision/{LATEST}/html"
ACTION = f"/w/api.php?action=query&format=json&formatversion=2&prop=revisions&revids={LATEST}&rvprop=ids"


def world(*rules: dict[str, object]) -> World:
    clock = Clock(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), monotonic=lambda: 0.0)
    return World(7, [make_page()], tuple(Rule.model_validate(rule) for rule in rules), clock)


def asked(of: World, path: str) -> tuple[int, bytes]:
    reply = asyncio.run(get_fault_free(of, "en.wikipedia.org", path))
    return reply.status, b"".join(reply.body.pieces())


@pytest.mark.parametrize("path", [SOURCE, HTML, ACTION])
def test_no_fault_meets_it_and_the_journal_does_not_know_it(path: str) -> None:
    struck = world({"name": "away", "do": {"status": 503, "missing": True, "hidden": {"parts": ["text"]}}})
    assert asked(struck, path) == asked(world(), path)
    assert asked(struck, path)[0] == 200
    assert struck.counts().requests == 0
    assert struck.rulebook.statuses()[0].matched == 0


def test_a_query_is_part_of_what_is_asked() -> None:
    status, body = asked(world(), ACTION)
    assert (status, json.loads(body)["query"]["pages"][0]["revisions"][0]["revid"]) == (200, LATEST)


def test_what_a_document_is_counts() -> None:
    large = world({"name": "large", "do": {"body": {"size": "20KiB"}}})
    assert len(asked(large, HTML)[1]) == 20_480


def test_what_the_wiki_does_not_have() -> None:
    assert asked(world(), "/w/rest.php/v1/revision/5")[0] == 404
