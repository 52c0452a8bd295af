from pydantic import TypeAdapter

from mockapi.wiki.catalog import DOMAIN, PAGES, WIKI, CatalogPages, default_catalog


def test_it_is_a_valid_catalog_as_documented() -> None:
    pages = TypeAdapter(CatalogPages).validate_python(default_catalog(1))
    assert [page.page_id for page in pages] == list(range(1, PAGES + 1))
    assert {(page.wiki, page.domain) for page in pages} == {(WIKI, DOMAIN)}
    assert {len(page.revisions) for page in pages} == {2, 3, 4, 5, 6}
    assert all(page.revisions[1].rev_id == page.page_id * 4096 + 2 for page in pages)
    assert len({page.title for page in pages}) == PAGES


def test_the_seed_decides_it() -> None:
    assert default_catalog(1, pages=20) == default_catalog(1, pages=20)
    assert default_catalog(1, pages=20) != default_catalog(2, pages=20)


def test_time_goes_forward_from_parent_to_child() -> None:
    for page in default_catalog(3, pages=50):
        stamps = [revision.timestamp for revision in page.revisions]
        assert stamps == sorted(stamps)
        parents = [revision.parent_id for revision in page.revisions]
        assert parents == [0, *(revision.rev_id for revision in page.revisions[:-1])]
