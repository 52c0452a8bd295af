from typing import Any

import pytest

from mockapi.wiki.wikis import Wikis
from tests.unit.mockapi.conftest import make_page


@pytest.fixture
def wikis() -> Wikis:
    german: dict[str, Any] = {"wiki": "dewiki", "domain": "de.wikipedia.org"}
    return Wikis([make_page(7), make_page(8), make_page(7, **german), make_page(9, revisions=5, **german)])


@pytest.mark.parametrize(
    ("host", "wiki"),
    [
        ("en.wikipedia.org", "enwiki"),
        ("DE.wikipedia.org:8080", "dewiki"),
        ("fr.wikipedia.org", None),
        ("[::1]:80", None),
        ("", None),
    ],
)
def test_the_host_names_the_wiki(wikis: Wikis, host: str, wiki: str | None) -> None:
    named = wikis.wiki_of_host(host)
    assert (named.name if named else None) == wiki
    found = wikis.find(7 * 4096 + 1, host=host)
    assert (found.page.wiki if found else None) == wiki


def test_without_a_wiki_the_revision_must_be_the_only_one(wikis: Wikis) -> None:
    only = wikis.find(9 * 4096 + 2, host="127.0.0.1:4711")
    assert only is not None
    assert (only.page.wiki, only.revision.rev_id) == ("dewiki", 9 * 4096 + 2)
    assert wikis.find(7 * 4096 + 2, host="127.0.0.1:4711") is None


def test_a_named_wiki_wins_over_the_host(wikis: Wikis) -> None:
    found = wikis.find(7 * 4096 + 1, host="en.wikipedia.org", wiki="dewiki")
    assert found is not None
    assert found.page.wiki == "dewiki"
    assert wikis.find(7 * 4096 + 1, host="en.wikipedia.org", wiki="nowiki") is None


@pytest.mark.parametrize("rev_id", [-1, 0, 7 * 4096, 7 * 4096 + 4, 10 * 4096 + 1, 2**62])
def test_unknown_revisions_are_not_found(wikis: Wikis, rev_id: int) -> None:
    assert wikis.find(rev_id, host="en.wikipedia.org") is None


def test_it_counts_what_the_catalog_gave(wikis: Wikis) -> None:
    assert (wikis.page_count, wikis.revision_count) == (4, 14)
    assert [wiki.name for wiki in wikis] == ["enwiki", "dewiki"]


def test_an_unknown_host_is_served_when_there_is_no_choice(wikis: Wikis) -> None:
    assert wikis.only is None
    assert wikis.serving("127.0.0.1") is None
    alone = Wikis([make_page(7)])
    assert alone.serving("127.0.0.1") is alone.only is alone.by_name("enwiki")


def test_there_may_be_no_wiki() -> None:
    none = Wikis([])
    assert (len(none), none.only, none.find(1), none.serving("x")) == (0, None, None, None)
