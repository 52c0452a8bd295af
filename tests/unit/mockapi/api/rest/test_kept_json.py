"""JSON that is kept must not outlive what it says: each path is asked twice around every change."""

from typing import Any

import pytest

from mockapi.plan import NOTHING, OtherBody, Plan, WikiState
from mockapi.wiki.pages.block import Block
from mockapi.wiki.people import Author

BY = Author("Bob", 9)
REVISION = 8 * 4096 + 2
FORMS = ["", "/bare", "/with_html"]


def asked_twice(wiki: Any, path: str) -> Any:
    first, second = (wiki.rest(path) for _ in range(2))
    assert first == second
    return first.json


@pytest.mark.parametrize("form", FORMS)
def test_writes_are_seen(wiki: Any, form: str) -> None:
    enwiki = wiki.world.wikis.by_name("enwiki")
    overlay = wiki.world.overlay(enwiki, "id")
    title, target = enwiki.title("Generated"), enwiki.title("Moved")
    of_page, of_revision = asked_twice(wiki, f"page/Generated{form}"), asked_twice(wiki, f"revision/{REVISION}{form}")
    overlay.edit(title, "new text", by=BY)
    edited = asked_twice(wiki, f"page/Generated{form}")
    assert edited["latest"]["id"] == of_page["latest"]["id"] + 1
    assert asked_twice(wiki, f"revision/{REVISION}{form}") == of_revision
    overlay.move(title, target, by=BY)
    assert asked_twice(wiki, f"revision/{REVISION}{form}")["page"]["title"] == "Moved"
    overlay.delete(target, by=BY)
    assert wiki.rest(f"revision/{REVISION}{form}").status == 404


@pytest.mark.parametrize("form", FORMS)
def test_a_rule_acts_and_ends(wiki: Any, form: str) -> None:
    path = f"revision/{REVISION}{form}"
    before = asked_twice(wiki, path)
    wiki.plan = Plan(state=WikiState(hidden=frozenset({"user", "comment"})))
    assert asked_twice(wiki, path)["user"] is None
    wiki.plan = Plan(body=OtherBody(Block(20_480, 1_024)))
    assert (asked_twice(wiki, path) == before) is (form != "/with_html")
    wiki.plan = NOTHING
    assert asked_twice(wiki, path) == before


def test_the_same_id_in_two_wikis_is_two_answers(make_wiki: Any, german: Any) -> None:
    wiki = make_wiki(german)
    for _ in range(2):
        english, other = (
            wiki.rest("revision/4097", headers={"host": f"{language}.wikipedia.org"}) for language in ("en", "de")
        )
        assert (english.json["source"], other.json["source"]) == ("one", "eins")
