"""A key says what its payload is about, and its object which event has stored it."""

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

SHA256 = "ab" * 32
ids = st.integers(1, 2**53 - 1)
wikis = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20) | st.sampled_from(
    [".", "..", "a/b", "%2F", "ab", "enwiki", " ", "Ä"]
)
revisions = st.builds(PageRevision, wikis, ids, ids, st.none() | ids)
prefixes = st.sampled_from(["", "/", "html-enrichment", "/a/b/"])
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)


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
