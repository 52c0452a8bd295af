"""Which events suppress what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.claim_key import PageRevision
from pipeline.records.suppression import Suppression, revision_of, suppression_of
from tests.unit.pipeline.making import make_event

REVISION = 7 * 4096 + 2
PAGE, HIDDEN = Suppression("enwiki", 7, None), Suppression("enwiki", 7, REVISION)


@pytest.mark.parametrize("kind", ["create", "edit", "move", "undelete", "visibility_change"])
@pytest.mark.parametrize("flags", [{}, {"is_content_visible": True, "is_editor_visible": True}])
def test_what_is_visible_suppresses_nothing(kind: str, flags: dict[str, bool]) -> None:
    assert suppression_of(make_event(kind, revision=flags)) is None


@pytest.mark.parametrize("flag", ["is_content_visible", "is_editor_visible", "is_comment_visible"])
@pytest.mark.parametrize("kind", ["edit", "move", "undelete", "visibility_change"])
def test_whatever_is_hidden_suppresses_its_revision(kind: str, flag: str) -> None:
    assert suppression_of(make_event(kind, revision={flag: False})) == HIDDEN


@pytest.mark.parametrize("flags", [{}, {"is_content_visible": False}])
def test_a_delete_suppresses_the_page(flags: dict[str, bool]) -> None:
    assert suppression_of(make_event("delete", revision=flags)) == PAGE


def test_a_revision_is_in_its_own_payloads_and_in_its_children_s() -> None:
    """A child's diff has the text of its parent."""
    own, child = PageRevision("enwiki", 7, REVISION, REVISION - 1), PageRevision("enwiki", 7, REVISION + 1, REVISION)
    others = PageRevision("enwiki", 7, REVISION - 1), PageRevision("enwiki", 7, REVISION + 2, REVISION + 1)
    elsewhere = PageRevision("dewiki", 7, REVISION), PageRevision("enwiki", 8, REVISION)
    assert HIDDEN.covers(own)
    assert HIDDEN.covers(child)
    assert not any(map(HIDDEN.covers, (*others, *elsewhere)))
    assert all(map(PAGE.covers, (own, child, *others)))
    assert not any(map(PAGE.covers, elsewhere))


@given(st.builds(Suppression, st.text(min_size=1), st.integers(1, 2**53 - 1), st.none() | st.integers(1, 2**53 - 1)))
def test_headers_say_it(suppression: Suppression) -> None:
    headers = dict(suppression.headers())
    assert Suppression.of_headers(headers | {"source-topic": b"x"}) == suppression
    assert headers["suppressed-scope"] == (b"page" if suppression.rev_id is None else b"revision")


def test_headers_that_do_not() -> None:
    assert Suppression.of_headers({}) is None
    with pytest.raises(ValueError, match="suppressed-scope is 'all', not page or revision"):
        Suppression.of_headers(dict(PAGE.headers()) | {"suppressed-scope": b"all"})
    with pytest.raises(KeyError, match="suppressed-revision"):
        Suppression.of_headers(dict(PAGE.headers()) | {"suppressed-scope": b"revision"})


def test_what_an_event_is_about() -> None:
    assert revision_of(make_event()) == PageRevision("enwiki", 7, REVISION, REVISION - 1)
    assert revision_of(make_event(revision={"rev_parent_id": 0})) == PageRevision("enwiki", 7, REVISION)
    assert revision_of(make_event(revision={"rev_parent_id": None})) == PageRevision("enwiki", 7, REVISION)
