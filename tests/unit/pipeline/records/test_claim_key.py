"""A key says what its payload is about, and a page's prefix finds its claim checks and no other's."""

import pytest
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
def test_a_page_s_prefix_is_that_of_its_keys_alone(
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
    assert key.endswith(f"{sha256[:2]}/{sha256}")
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
