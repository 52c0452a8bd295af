"""What a host keeps of revisions: found by another process, bounded, gone when dropped, and worthless when lost."""

import gzip
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.fetch import kept_revisions
from pipeline.fetch.kept_revisions import KeptRevisions, keeping_nothing
from tests.unit.pipeline.making import make_config

CONTENT = b"<p>\xc3\xa4</p>"
MIB = 1024 * 1024


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptRevisions]:
    kept = KeptRevisions(tmp_path / "kept", MIB)
    yield kept
    kept.close()


def put(kept: KeptRevisions, page: str, rev: int, content: bytes = CONTENT) -> None:
    kept.put("wiki", page, rev, content, since=kept.now())


@pytest.mark.parametrize("content", [CONTENT, b""], ids=["some", "none"])
def test_what_was_put_is_there(kept: KeptRevisions, content: bytes) -> None:
    assert kept.get("wiki", "Q1", 5) is None
    put(kept, "Q1", 5, content)
    assert kept.get("wiki", "Q1", 5) == content
    for wiki, page, rev in (("other", "Q1", 5), ("wiki", "Q2", 5), ("wiki", "Q1", 4), ("wiki", "Q1", 6)):
        assert kept.get(wiki, page, rev) is None


@pytest.mark.parametrize(
    ("compressed", "found"),
    [
        (gzip.compress(CONTENT * 9), CONTENT * 9),
        (gzip.compress(CONTENT * 4) + gzip.compress(CONTENT * 5), CONTENT * 9),
        (gzip.compress(CONTENT * 9) + 99 * gzip.compress(b""), CONTENT * 9),
        (gzip.compress(CONTENT * 9)[:-1], None),
    ],
    ids=["one member", "two", "larger than the content", "damaged"],
)
def test_what_is_compressed_already_is_kept_so(kept: KeptRevisions, compressed: bytes, found: bytes | None) -> None:
    kept.put("wiki", "Q1", 5, CONTENT * 9, since=kept.now(), compressed=compressed)
    assert kept.get("wiki", "Q1", 5) == found


def test_what_is_dropped_is_gone_and_leaves_its_place(tmp_path: Path) -> None:
    kept = KeptRevisions(tmp_path, 20_000)
    for page in (1, 2, 3):
        put(kept, f"Q{page}", 5, _content_of(page, 5))
    kept.drop("wiki", "Q2")
    kept.drop("wiki", "Q9")
    assert kept.get("wiki", "Q2", 5) is None
    put(kept, "Q2", 4, _content_of(2, 4))
    put(kept, "Q4", 5, _content_of(4, 5))
    found = {page: kept.get("wiki", f"Q{page}", rev) for page, rev in ((1, 5), (2, 4), (3, 5), (4, 5))}
    assert found == {1: _content_of(1, 5), 2: _content_of(2, 4), 3: _content_of(3, 5), 4: _content_of(4, 5)}
    kept.close()


@pytest.mark.parametrize(
    ("between", "stays"),
    [
        (lambda kept: kept.drop("wiki", "Q2"), True),
        (lambda kept: kept.drop("wiki", "Q1"), False),
        (lambda kept: kept.clear(), False),
        (lambda kept: [kept.drop("wiki", f"Q{number}") for number in (1, 5, 6, 7)], False),
        (lambda kept: [kept.drop("wiki", f"Q{number}") for number in (5, 6, 7, 8)], False),
    ],
    ids=["another page is dropped", "the page is dropped", "all is", "the drop itself is forgotten", "too many are"],
)
def test_a_put_that_began_before_a_drop_has_no_effect(
    kept: KeptRevisions, monkeypatch: pytest.MonkeyPatch, between: Callable[[KeptRevisions], object], stays: bool
) -> None:
    monkeypatch.setattr(kept_revisions, "_MOST_DROPS", 3)
    before = kept.now()
    between(kept)
    kept.put("wiki", "Q1", 5, CONTENT, since=before)
    assert (kept.get("wiki", "Q1", 5) is not None) == stays
    put(kept, "Q1", 6)
    assert kept.get("wiki", "Q1", 6) == CONTENT, "one that begins now has"


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("begin"), st.integers(1, 3), st.integers(1, 4)),
            st.tuples(st.just("end"), st.integers(0, 3), st.just(0)),
            st.tuples(st.just("drop"), st.integers(1, 3), st.just(0)),
            st.tuples(st.just("clear"), st.just(0), st.just(0)),
        ),
        max_size=40,
    )
)
def test_nothing_that_was_dropped_comes_back(steps: list[tuple[str, int, int]]) -> None:
    """Against a dictionary, with puts under way at each drop."""
    model = dict[int, tuple[int, bytes]]()
    under_way = list[tuple[int, int, bytes, int, bool]]()

    with tempfile.TemporaryDirectory() as directory:
        kept = KeptRevisions(Path(directory), MIB)
        for number, (what, page, rev) in enumerate(steps):
            content = str(number).encode()
            if what == "begin":
                under_way.append((page, rev, content, kept.now(), True))
            elif what == "end" and under_way:
                page, rev, content, since, counts = under_way.pop(page % len(under_way))
                kept.put("wiki", str(page), rev, content, since=since)
                if counts and model.get(page, (0, b""))[0] <= rev:
                    model[page] = rev, content
            elif what == "drop":
                kept.drop("wiki", str(page))
                model.pop(page, None)
                under_way = [(*put[:4], put[4] and put[0] != page) for put in under_way]
            elif what == "clear":
                kept.clear()
                model.clear()
                under_way = [(*put[:4], False) for put in under_way]
        found = {page: (rev, kept.get("wiki", str(page), rev)) for page, (rev, _) in model.items()}
        elsewhere = [kept.get("wiki", str(page), rev) for page in (1, 2, 3) for rev in range(1, 5)]
        kept.close()
    assert found == model
    assert {content for content in elsewhere if content is not None} == {content for _, content in model.values()}


def _content_of(page: int, rev: int) -> bytes:
    """Such as does not become smaller."""
    return random.Random(f"{page}/{rev}").randbytes(3000).hex().encode()


@settings(max_examples=20, deadline=None)
@given(puts=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6)), min_size=1, max_size=60))
def test_the_oldest_go_where_all_do_not_fit(puts: list[tuple[int, int]]) -> None:
    bound_bytes = 20_000
    with tempfile.TemporaryDirectory() as directory:
        kept = KeptRevisions(Path(directory), bound_bytes)
        for page, rev in puts:
            put(kept, f"Q{page}", rev, _content_of(page, rev))
        found = {(page, rev): kept.get("wiki", f"Q{page}", rev) for page, rev in puts}
        kept.close()
    held = {place for place, content in found.items() if content is not None}
    assert all(found[place] == _content_of(*place) for place in held)
    assert len(held) <= bound_bytes // 3_000
    page, rev = puts[-1]
    assert any(other == page and later >= rev for other, later in held), "of the last page that or a later one"


def test_a_page_that_is_too_large_is_not_kept(kept: KeptRevisions) -> None:
    put(kept, "Q1", 1, os.urandom(MIB // 4).hex().encode())
    assert kept.get("wiki", "Q1", 1) is None


@pytest.mark.parametrize("damage", [b"", b"no LMDB" * 2000], ids=["empty", "other"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    kept = KeptRevisions(tmp_path, MIB)
    put(kept, "Q1", 5)
    file_id = kept.file_id
    kept.close()
    (tmp_path / "data.mdb").write_bytes(damage)
    kept = KeptRevisions(tmp_path, MIB)
    assert kept.get("wiki", "Q1", 5) is None
    assert kept.file_id != file_id
    put(kept, "Q1", 5)
    assert kept.get("wiki", "Q1", 5) == CONTENT
    kept.close()


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = KeptRevisions(tmp_path / "file" / "below", MIB)
    put(kept, "Q1", 5)
    kept.drop("wiki", "Q1")
    kept.clear()
    kept.continue_from("anywhere")
    assert (kept.get("wiki", "Q1", 5), kept.file_id) == (None, None)
    kept.close()


def test_it_is_kept_by_a_start_that_continues_where_it_was_read_to(kept: KeptRevisions) -> None:
    kept.continue_from("a new job")
    put(kept, "Q1", 5)
    kept.read_to("offset 7")
    kept.continue_from("offset 7")
    assert kept.get("wiki", "Q1", 5) == CONTENT
    kept.continue_from("offset 9")
    assert kept.get("wiki", "Q1", 5) is None


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({"parent_cache": {"policy": "last"}}, 64 * MIB),
        ({"parent_cache": {"policy": "last", "max_bytes": "1MiB"}}, MIB),
        ({"parent_cache": {"policy": "none"}}, 0),
        ({"job": "content-enrichment", "parent_cache": {"policy": "last"}}, 0),
        ({"job": "rdf-resolve", "rdf": {"keep_last": "2MiB"}}, 2 * MIB),
        ({"job": "rdf-resolve", "rdf": {"keep_last": 0}, "parent_cache": {"policy": "last"}}, 0),
    ],
)
def test_which_job_keeps_how_much(sections: dict[str, object], expected: int) -> None:
    config = make_config(**sections)
    assert config.kept_bytes == expected
    assert keeping_nothing(config).kept_bytes == 0


def test_each_checkpoint_has_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    policy = {"policy": "last"}
    configs = [make_config(checkpoint=place, parent_cache=policy) for place in ("s3a://a", "s3a://a", "s3a://b")]
    first, again, other = map(kept_revisions.kept_revisions, configs)
    assert first is again
    assert first is not None
    assert other is not None
    assert first.file_id != other.file_id
    assert len(list(tmp_path.iterdir())) == 2
