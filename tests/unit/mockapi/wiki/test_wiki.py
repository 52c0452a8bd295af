from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, Located
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki, language_of, revision_of, system_message
from mockapi.wiki.wikis import Wikis
from tests.unit.mockapi.conftest import make_page


def wiki_of(*pages: CatalogPage) -> Wiki:
    return Wiki("enwiki", "en.wikipedia.org", pages)


def test_a_page_is_found_by_id_by_title_and_by_its_revisions() -> None:
    page = make_page(7, title="Old_harbour")
    wiki = wiki_of(page, make_page(8, title="Élan"))
    assert wiki.page(wiki.title("old harbour")) is page
    assert wiki.page_by_id(7) is page
    assert wiki.revision(7 * REVISIONS_PER_PAGE + 2) == Located(page, page.revisions[1])
    assert wiki.latest(page) == Located(page, page.revisions[-1])
    assert wiki.title_of(page).text == "Old harbour"
    assert wiki.page(wiki.title("élan")) is wiki.page_by_id(8)


def test_what_is_not_there_is_not_found() -> None:
    wiki = wiki_of(make_page(7))
    assert wiki.page(wiki.title("No such page")) is None
    assert wiki.page_by_id(99) is None
    assert [wiki.revision(rev_id) for rev_id in (-1, 0, 7 * 4096, 7 * 4096 + 4, 99 * 4096 + 1, 2**62)] == [None] * 6


def test_a_deleted_page_is_unknown_to_readers() -> None:
    page = make_page(7).model_copy(update={"deleted": True})
    wiki = wiki_of(page)
    assert wiki.page(wiki.title("Old harbour")) is None
    assert wiki.page_by_id(7) is None
    assert wiki.revision(7 * 4096 + 1) is None
    assert wiki.deleted(wiki.title("Old harbour")) == (page,)
    assert page not in list(wiki)


def test_of_two_pages_with_a_title_the_first_has_it() -> None:
    wiki = wiki_of(make_page(7, title="Same"), make_page(8, title="Same"))
    found = wiki.page(wiki.title("Same"))
    assert found is not None
    assert found.page_id == 7
    assert wiki.revision(8 * 4096 + 1) is not None


def test_there_is_a_main_page_after_the_highest_id() -> None:
    wiki = wiki_of(make_page(7))
    page = wiki.page(wiki.main_page)
    assert page is not None
    assert (page.page_id, page.title, page.revisions[0].rev_id) == (8, "Main Page", 8 * 4096 + 1)
    assert wiki.next_page_id == 9


@pytest.mark.parametrize("deleted", [False, True])
def test_a_given_main_page_is_the_main_page(deleted: bool) -> None:
    given = make_page(7, title="Main_Page").model_copy(update={"deleted": deleted})
    wiki = wiki_of(given)
    assert wiki.page(wiki.main_page) == (None if deleted else given)
    assert wiki.next_page_id == 8


def test_no_main_page_is_made_where_there_is_no_id_left() -> None:
    highest = 2**53 // 4096 - 1
    wiki = wiki_of(make_page(highest))
    assert wiki.page(wiki.main_page) is None
    assert wiki.next_page_id == highest + 1


def test_catalogs_show_how_a_wiki_calls_its_namespaces() -> None:
    talk = make_page(7, title="Diskussion:Hafen").model_copy(update={"namespace_id": 1})
    portal = make_page(8, title="Portal:Hafen").model_copy(update={"namespace_id": 100})
    wiki = Wiki("dewiki", "de.wikipedia.org", [talk, portal])
    assert wiki.page(wiki.title("talk:hafen")) is talk
    assert wiki.page(wiki.title("Diskussion:Hafen")) is talk
    assert wiki.page(wiki.title("Portal:Hafen")) is portal
    assert (wiki.language, wiki.sitename, wiki.server) == ("de", "Wikipedia", "https://de.wikipedia.org")


@pytest.mark.parametrize("title", ["Talk:Hafen", "Hafen", "User:Hafen"])
def test_the_given_namespace_counts_whatever_the_title_begins_with(title: str) -> None:
    page = make_page(7, title=title).model_copy(update={"namespace_id": 1})
    wiki = wiki_of(page)
    assert wiki.title_of(page).namespace_id == 1
    assert wiki.page(wiki.title_of(page)) is page


@pytest.mark.parametrize("title", ["A|b", "x" * 300, "::", "a  b", "lower", " Old"])
def test_a_title_that_no_page_could_have_does_no_harm(title: str) -> None:
    page = make_page(7, title=title)
    wiki = wiki_of(page)
    assert wiki.page(wiki.title_of(page)) is page


def test_put_replaces_a_page_and_its_title() -> None:
    wiki = wiki_of(make_page(7, title="A"))
    wiki.put(make_page(7, title="B", revisions=5))
    assert wiki.page(wiki.title("A")) is None
    assert wiki.revision(7 * 4096 + 5) is not None
    assert wiki.page(wiki.title("B")) is wiki.page_by_id(7)


def test_a_revision_of_a_page_is_found_even_when_it_is_deleted() -> None:
    page = make_page(7).model_copy(update={"deleted": True})
    assert revision_of(page, 7 * 4096 + 3) is page.revisions[2]
    assert revision_of(page, 7 * 4096 + 4) is None
    assert page.revisions[0].timestamp == datetime(2026, 1, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("domain", "language", "sitename"),
    [
        ("fr.wiktionary.org", "fr", "Wiktionary"),
        ("zh-min-nan.wikipedia.org", "zh-min-nan", "Wikipedia"),
        ("www.wikidata.org", "en", "Wikidata"),
        ("commons.wikimedia.org", "en", "Commons"),
        ("wiki.example.org", "en", "Wiki"),
        ("localhost", "en", "Localhost"),
    ],
)
def test_the_domain_names_language_and_wiki(domain: str, language: str, sitename: str) -> None:
    assert (language_of(domain), Wiki("x", domain).sitename) == (language, sitename)


def test_a_message_is_there_without_a_page() -> None:
    text = "Start a new page for a topic that has been requested."
    assert system_message(Title(8, "Newpage-desc", "MediaWiki")) == text
    assert system_message(Title(0, "Newpage-desc")) is None
    assert system_message(Title(8, "No_such_message", "MediaWiki")) is None


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
