import hashlib
from typing import Any

import pytest

from mockapi.wiki.catalog import CatalogRevision, Located, default_catalog
from mockapi.wiki.facts import delta, facts
from mockapi.wiki.pages.article_source import generate
from mockapi.wiki.pages.outline import ArticleId
from tests.unit.mockapi.conftest import make_page


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
