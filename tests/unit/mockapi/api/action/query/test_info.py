from typing import Any

import pytest


def info(api: Any, title: str, **parameters: Any) -> Any:
    (page,) = api.query(prop="info", titles=title, **parameters)["pages"]
    return page


@pytest.mark.parametrize(
    ("title", "model"), [("Nope", "wikitext"), ("User:X/a.js", "javascript"), ("MediaWiki:A.css", "css")]
)
def test_a_missing_page_has_a_model_all_the_same(api: Any, title: str, model: str) -> None:
    page = info(api, title)
    assert (page["missing"], page["contentmodel"]) == (True, model)
    assert "touched" not in page


def test_special_pages_are_left_alone(api: Any) -> None:
    assert list(info(api, "Special:BlankPage")) == ["ns", "title", "special"]


def test_more_is_told_when_asked_for(api: Any) -> None:
    props = "protection|talkid|associatedpage|url|displaytitle|varianttitles"
    page = info(api, "Old harbour", inprop=props)
    assert {name: page[name] for name in list(page)[10:]} == {
        "protection": [],
        "restrictiontypes": ["edit", "move"],
        "talkid": 4,
        "associatedpage": "Talk:Old harbour",
        "fullurl": "https://en.wikipedia.org/wiki/Old_harbour",
        "editurl": "https://en.wikipedia.org/w/index.php?title=Old_harbour&action=edit",
        "canonicalurl": "https://en.wikipedia.org/wiki/Old_harbour",
        "displaytitle": "Old harbour",
        "varianttitles": {"en": "Old harbour"},
    }


def test_a_talk_page_has_a_subject(api: Any) -> None:
    page = info(api, "Talk:Old harbour", inprop="subjectid|talkid|associatedpage")
    assert (page["subjectid"], page["associatedpage"], "talkid" in page) == (1, "Old harbour", False)


@pytest.mark.parametrize(
    ("title", "types"), [("Nope", ["create"]), ("File:X.png", ["create"]), ("Old harbour", ["edit", "move"])]
)
def test_what_could_be_restricted(api: Any, title: str, types: list[str]) -> None:
    assert info(api, title, inprop="protection")["restrictiontypes"] == types


def test_what_who_asks_may_do(api: Any) -> None:
    assert info(api, "Old harbour", intestactions="edit|delete")["actions"] == {"edit": True, "delete": False}


def test_addresses_are_written_as_mediawiki_writes_them(api: Any) -> None:
    page = info(api, "User:Ä/b (c)?&d", inprop="url")
    assert page["fullurl"] == "https://en.wikipedia.org/wiki/User:%C3%84/b_(c)%3F%26d"


def test_editing_helps_are_for_a_single_page(api: Any) -> None:
    code, _ = api.get(action="query", prop="info", titles="A|B", inprop="editintro").error
    assert code == "invalidparammix"


def test_going_on_begins_at_the_title_given(api: Any) -> None:
    pages = api.query(prop="info", titles="Generated|Old harbour|Talk:Old harbour", incontinue="0|Old_harbour")["pages"]
    assert [page["title"] for page in pages if "touched" in page] == ["Old harbour", "Talk:Old harbour"]


@pytest.mark.parametrize(("asked", "private"), [({}, False), ({"inprop": "url"}, False), ({"inprop": "watched"}, True)])
def test_what_depends_on_who_asks_is_private(api: Any, asked: dict[str, str], private: bool) -> None:
    answer = api.get(action="query", prop="info", titles="Old harbour", smaxage=9, **asked)
    assert ("private" in answer["cache-control"]) == private
