"""A key says what its payload is about, its object which event has stored it, and an event which keys it suppresses."""

from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.claim_key import (
    PageRevision,
    is_claim,
    key_of,
    mark_of,
    names_hash,
    page_prefix,
    revision_in,
    without_mark,
)
from pipeline.records.claim_origin import ClaimOrigin, origin_of
from pipeline.records.record import Position
from pipeline.records.suppression import Suppression, revision_of, suppression_of
from tests.unit.pipeline.making import make_event

SHA256 = "ab" * 32
ids = st.integers(1, 2**53 - 1)
wikis = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20) | st.sampled_from(
    [".", "..", "a/b", "%2F", "ab", "enwiki", " ", "Ä"]
)
revisions = st.builds(PageRevision, wikis, ids, ids, st.none() | ids)
prefixes = st.sampled_from(["", "/", "html-enrichment", "/a/b/"])
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
REVISION = 7 * 4096 + 2
PAGE, HIDDEN = Suppression("enwiki", 7, None), Suppression("enwiki", 7, REVISION)


@given(prefixes, hashes, revisions)
def test_a_key_says_wiki_page_revision_and_parent(prefix: str, sha256: str, about: PageRevision) -> None:
    key = key_of(prefix, sha256, about)
    assert revision_in(key, prefix) == about
    assert is_claim(key, prefix)
    assert names_hash(key, sha256)
    assert not set(key.split("/")) & {"", ".", ".."}


@given(prefixes, hashes, revisions, revisions)
def test_a_pages_prefix_is_of_its_keys_alone(
    prefix: str, sha256: str, about: PageRevision, other: PageRevision
) -> None:
    of_page = page_prefix(prefix, about.wiki_id, about.page_id)
    assert key_of(prefix, sha256, about).startswith(of_page)
    same = (other.wiki_id, other.page_id) == (about.wiki_id, about.page_id)
    assert key_of(prefix, sha256, other).startswith(of_page) == same


def test_page_1_is_not_page_12() -> None:
    assert not key_of("p", SHA256, PageRevision("enwiki", 12, 3)).startswith(page_prefix("p", "enwiki", 1))


@given(st.lists(st.tuples(hashes, st.none() | revisions), unique=True))
def test_different_payloads_have_different_keys(payloads: list[tuple[str, PageRevision | None]]) -> None:
    assert len({key_of("job", sha256, about) for sha256, about in payloads}) == len(payloads)


@given(prefixes, hashes)
def test_a_key_of_before_names_no_page_and_is_one_all_the_same(prefix: str, sha256: str) -> None:
    key = key_of(prefix, sha256)
    assert key == "/".join([part for part in prefix.split("/") if part] + [sha256[:2], sha256])
    assert revision_in(key, prefix) is None
    assert is_claim(key, prefix)
    assert names_hash(key, sha256)


@pytest.mark.parametrize(
    "key",
    [
        f"job/enwiki/7/9/{SHA256}",
        f"job/enwiki/7/9/0/{SHA256[:-1]}",
        f"job/enwiki/07/9/0/{SHA256}",
        f"job/enwiki/7/9/0/{SHA256}.suppressed",
        f"job/en.wiki/7/9/0/{SHA256}",
        f"other/enwiki/7/9/0/{SHA256}",
        f"job/deeper/enwiki/7/9/0/{SHA256}",
    ],
)
def test_other_keys_are_about_nothing(key: str) -> None:
    assert revision_in(key, "job") is None
    assert not is_claim(key, "job")


def test_a_mark_is_no_payload() -> None:
    key = key_of("job", SHA256, PageRevision("enwiki", 7, 9))
    assert without_mark(mark_of(key)) == without_mark(key) == key
    assert revision_in(mark_of(key), "job") is None


positions = st.builds(Position, st.sampled_from(["mediawiki.page_change.v1", "b_1"]), st.integers(0, 3), st.integers(0))
origins = st.builds(ClaimOrigin, positions, st.integers())


@given(origins)
def test_the_metadata_say_it_whatever_case_a_store_gives_their_names(origin: ClaimOrigin) -> None:
    metadata = origin.metadata()
    assert ClaimOrigin.of_metadata(metadata) == origin
    assert ClaimOrigin.of_metadata({name.title(): value for name, value in metadata.items()}) == origin
    assert all(value.isascii() for value in metadata.values()), "others no store takes"


@pytest.mark.parametrize(
    "metadata",
    [{}, {"source": "a/0/1"}, {"source": "a/0", "source-time-ms": "1"}, {"source": "a/0/1", "source-time-ms": "x"}],
)
def test_what_does_not_say_it(metadata: dict[str, str]) -> None:
    assert ClaimOrigin.of_metadata(metadata) is None


@given(origins, origins, origins)
def test_no_two_are_behind_each_other(one: ClaimOrigin, other: ClaimOrigin, third: ClaimOrigin) -> None:
    assert not (one.is_behind(other) and other.is_behind(one))
    assert not one.is_behind(one)
    assert not (one.is_behind(other) and other.is_behind(third)) or one.is_behind(third)


def test_its_time_is_that_of_the_record() -> None:
    when = datetime(2026, 3, 2, 9, 0, 0, 123_456, tzinfo=UTC)
    assert ClaimOrigin.of(Position("a", 0, 1), when).at_ms == 1_772_442_000_123


class Refusing:
    def __init__(self, status: int) -> None:
        self.status = status

    def head_object(self, **_: Any) -> dict[str, Any]:
        raise ClientError({"ResponseMetadata": {"HTTPStatusCode": self.status}}, "HeadObject")  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("status", "ends"), [(403, nullcontext()), (404, nullcontext()), (503, pytest.raises(ClientError))]
)
def test_what_may_not_be_asked_or_is_gone_does_not_say_it(status: int, ends: AbstractContextManager[object]) -> None:
    """A store that fails has said nothing."""
    client: Any = Refusing(status)
    with ends:
        assert origin_of(client, "bucket", "key") is None


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
