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


@pytest.mark.parametrize(
    ("rev_id", "host", "wiki", "found_in"),
    [
        pytest.param(9 * 4096 + 2, "127.0.0.1:4711", None, "dewiki", id="the only revision with that id"),
        pytest.param(7 * 4096 + 2, "127.0.0.1:4711", None, None, id="one of two"),
        pytest.param(7 * 4096 + 1, "en.wikipedia.org", "dewiki", "dewiki", id="a named wiki wins over the host"),
        pytest.param(7 * 4096 + 1, "en.wikipedia.org", "nowiki", None, id="an unknown wiki"),
    ],
)
def test_a_revision_is_found(wikis: Wikis, rev_id: int, host: str, wiki: str | None, found_in: str | None) -> None:
    found = wikis.find(rev_id, host=host, wiki=wiki)
    assert (found and (found.page.wiki, found.revision.rev_id)) == (found_in and (found_in, rev_id))


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
