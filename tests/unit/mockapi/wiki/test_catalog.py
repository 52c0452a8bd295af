import hashlib
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from mockapi.wiki.catalog import (
    DOMAIN,
    PAGES,
    WIKI,
    CatalogPage,
    CatalogPages,
    CatalogRevision,
    Located,
    default_catalog,
)
from mockapi.wiki.facts import delta, facts
from mockapi.wiki.pages.article_source import generate
from mockapi.wiki.pages.outline import ArticleId
from tests.unit.mockapi.conftest import make_page

Revision = dict[str, Any]


def revision(rev_id: int, parent_id: int = 0, timestamp: str = "2026-01-01T00:00:00Z") -> Revision:
    return {"rev_id": rev_id, "parent_id": parent_id, "timestamp": timestamp}


def page(*revisions: Revision, page_id: int = 2, **more: str) -> dict[str, Any]:
    fields = {"wiki": "enwiki", "domain": "en.wikipedia.org", "namespace_id": 0, "title": "A"}
    return {**fields, **more, "page_id": page_id, "revisions": revisions or (revision(page_id * 4096 + 1),)}


def test_a_page_finds_itself_in_its_revisions() -> None:
    valid = CatalogPage.model_validate(page(revision(8192), revision(8193, 8192), revision(12287, 8193)))
    assert [entry.number for entry in valid.revisions] == [0, 1, 4095]


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (page(revision(12288)), "revision 12288 is not one of page 2"),
        (page(revision(8191)), "revision 8191 is not one of page 2"),
        (page(revision(8194, 8194)), "parent 8194 of revision 8194"),
        (page(revision(8194, 4097)), "parent 4097 of revision 8194"),
        (page(revision(8194), revision(8193)), "not in ascending order"),
        (page(revision(8193, timestamp="2026-01-01T00:00:00")), "timezone"),
        (page() | {"revisions": ()}, "at least 1 item"),
        (page() | {"domain": "EN.wikipedia.org"}, "pattern"),
        (page() | {"titel": "A"}, "Extra inputs"),
        (page(revision(8193) | {"user_id": 7}), "user_id 7 of revision 8193 is no user's"),
        (page(revision(8193) | {"user": "A", "user_id": -1}), "greater than or equal to 0"),
        (page(revision(8193) | {"user": ""}), "at least 1 character"),
        (page(revision(8193) | {"hidden": ["size"]}), "Input should be 'text', 'user' or 'comment'"),
    ],
)
def test_what_breaks_the_contract_is_refused(broken: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        CatalogPage.model_validate(broken)


def test_what_is_left_open_is_drawn_later() -> None:
    valid = CatalogPage.model_validate(page())
    first = valid.revisions[0]
    assert (valid.content_model, valid.deleted) == ("wikitext", False)
    assert (first.text, first.user, first.user_id, first.comment) == (None, None, None, None)
    assert (first.minor, first.hidden, first.suppressed) == (False, (), False)


def test_a_revision_may_be_given_whole() -> None:
    given = {"text": "", "user": "Alice", "user_id": 7, "comment": "", "minor": True}
    whole = revision(8193) | given | {"hidden": ["text", "user"], "suppressed": True}
    valid = CatalogPage.model_validate(page(whole) | {"content_model": "css", "deleted": True})
    assert valid.revisions[0].hidden == ("text", "user")
    assert CatalogPage.model_validate_json(valid.model_dump_json()) == valid


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        (page(), "page 2 of enwiki is there twice"),
        (page(page_id=3, domain="de.wikipedia.org"), "wiki enwiki has two domains"),
        (page(page_id=3, wiki="dewiki"), "domain en.wikipedia.org belongs to two wikis"),
    ],
)
def test_pages_of_a_catalog_agree(second: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        TypeAdapter(CatalogPages).validate_python((page(), second))


def test_wikis_may_share_page_ids() -> None:
    pages = (page(), page(wiki="dewiki", domain="de.wikipedia.org"))
    assert len(TypeAdapter(CatalogPages).validate_python(pages)) == 2


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


def given(located: Located, **fields: Any) -> Located:
    revision = CatalogRevision.model_validate({**located.revision.model_dump(), **fields})
    revisions = tuple(revision if one.rev_id == revision.rev_id else one for one in located.page.revisions)
    page = located.page.model_copy(update={"revisions": revisions})
    return Located(page, revision)


def test_given_fields_win(located: Located) -> None:
    known = facts(1, given(located, text="Möwe", user="Alice", user_id=7, comment="", minor=True))
    assert (known.text, known.size, known.user, known.user_id, known.comment) == ("Möwe", 5, "Alice", 7, "")
    assert known.sha1 == hashlib.sha1("Möwe".encode()).hexdigest()
    assert (known.minor, known.anonymous) == (True, False)


@pytest.mark.parametrize("what", ["user", "comment", "minor", "text"])
def test_the_rest_is_drawn_from_the_seed(what: str) -> None:
    places = [Located(page, revision) for page in default_catalog(1, pages=30) for revision in page.revisions]

    def drawn(seed: int) -> list[Any]:
        return [getattr(facts(seed, place), what) for place in places]

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(set(drawn(1))) > (1 if what == "minor" else 10)


def test_a_delta_is_that_of_the_seed() -> None:
    page = make_page(7)
    for seed in (1, 2):
        first, second = (facts(seed, Located(page, revision)).size for revision in page.revisions[:2])
        assert delta(seed, Located(page, page.revisions[1])) == second - first
    assert delta(1, Located(page, page.revisions[1])) != delta(2, Located(page, page.revisions[1]))


def test_the_source_of_a_generated_revision_is_generated(located: Located) -> None:
    known = facts(1, located)
    assert known.text == generate(ArticleId.of(1, located))
    assert known.size == len(known.text.encode())
    assert known.sha1 == hashlib.sha1(known.text.encode()).hexdigest()
    assert known.redirect_target is None


def test_some_have_no_account() -> None:
    known = [facts(1, Located(page, revision)) for page in default_catalog(1, pages=60) for revision in page.revisions]
    anonymous = [one for one in known if one.anonymous]
    assert 0 < len(anonymous) < len(known) / 4
    assert all("." in one.user or ":" in one.user for one in anonymous)
    ids = {one.user: one.user_id for one in known if not one.anonymous}
    assert len(set(ids.values())) == len(ids), "an account has one name"


def test_the_first_revision_is_never_minor() -> None:
    pages = default_catalog(1, pages=60)
    first, later = ({facts(1, Located(page, page.revisions[n])).minor for page in pages} for n in (0, 1))
    assert (first, later) == ({False}, {False, True})


@pytest.mark.parametrize(("name", "anonymous"), [("192.0.2.7", True), ("2001:DB8::1", True), ("Bob", False)])
def test_an_address_has_no_account(located: Located, name: str, anonymous: bool) -> None:
    assert facts(1, given(located, user=name)).anonymous is anonymous


def test_hidden_parts_are_known_and_marked(located: Located) -> None:
    known = facts(1, given(located, text="secret", hidden=("text", "user"), suppressed=True))
    assert (known.text_hidden, known.user_hidden, known.comment_hidden, known.suppressed) == (True, True, False, True)
    assert known.text == "secret"


def test_only_wikitext_redirects(located: Located) -> None:
    redirect = given(located, text="#REDIRECT [[Quay]]")
    assert facts(1, redirect).redirect_target == "Quay"
    code = Located(redirect.page.model_copy(update={"content_model": "css"}), redirect.revision)
    assert facts(1, code).redirect_target is None


def test_delta_is_the_difference_to_the_parent() -> None:
    page, texts = make_page(7), ("ä", "abcd", "a")
    revisions = tuple(one.model_copy(update={"text": text}) for one, text in zip(page.revisions, texts, strict=True))
    page = page.model_copy(update={"revisions": revisions})
    assert [delta(1, Located(page, revision)) for revision in revisions] == [None, 2, -3]
    lone = page.model_copy(update={"revisions": revisions[1:]})
    assert delta(1, Located(lone, revisions[1])) is None, "without its parent"
