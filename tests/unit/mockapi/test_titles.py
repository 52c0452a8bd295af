from collections.abc import Callable

import pytest

from mockapi.catalog import CatalogPage
from mockapi.titles import TitleTable


@pytest.fixture
def table(make_page: Callable[..., CatalogPage]) -> TitleTable:
    german = {"wiki": "dewiki", "domain": "de.wikipedia.org"}
    return TitleTable([make_page(7), make_page(8), make_page(7, **german), make_page(9, **german)])


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
def test_the_host_names_the_wiki(table: TitleTable, host: str, wiki: str | None) -> None:
    assert table.wiki_of_host(host) == wiki
    found = table.find(7 * 4096 + 1, host=host)
    assert (found.page.wiki if found else None) == wiki


def test_without_a_wiki_the_revision_must_be_the_only_one(table: TitleTable) -> None:
    only = table.find(9 * 4096 + 2, host="127.0.0.1:4711")
    assert only is not None
    assert (only.page.wiki, only.revision.rev_id) == ("dewiki", 9 * 4096 + 2)
    assert table.find(7 * 4096 + 2, host="127.0.0.1:4711") is None


def test_a_named_wiki_wins_over_the_host(table: TitleTable) -> None:
    found = table.find(7 * 4096 + 1, host="en.wikipedia.org", wiki="dewiki")
    assert found is not None
    assert found.page.wiki == "dewiki"


@pytest.mark.parametrize("rev_id", [-1, 0, 7 * 4096, 7 * 4096 + 4, 10 * 4096 + 1, 2**62])
def test_unknown_revisions_are_not_found(table: TitleTable, rev_id: int) -> None:
    assert table.find(rev_id, host="en.wikipedia.org") is None


def test_it_counts(table: TitleTable) -> None:
    assert (table.page_count, table.revision_count) == (4, 12)
