"""The last revisions that a host keeps: found by another process, bounded, and worthless when lost."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.rdf.kept_revisions import KeptRevisions, kept_directory

TRIPLES = frozenset({"<http://e/Q1> <http://p> <http://o> .", '<http://e/Q1> <http://p> "ä \\n ." .'})
MIB = 1024 * 1024


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptRevisions]:
    kept = KeptRevisions(tmp_path / "kept", MIB)
    yield kept
    kept.close()


@pytest.mark.parametrize("triples", [TRIPLES, frozenset[str]()], ids=["some", "none"])
def test_what_was_put_is_there(kept: KeptRevisions, triples: frozenset[str]) -> None:
    assert kept.get("wiki", "Q1", 5) is None
    kept.put("wiki", "Q1", 5, triples)
    assert kept.get("wiki", "Q1", 5) == triples
    for wiki, entity, rev in (("other", "Q1", 5), ("wiki", "Q2", 5), ("wiki", "Q1", 4), ("wiki", "Q1", 6)):
        assert kept.get(wiki, entity, rev) is None


def test_the_latest_revision_stays(kept: KeptRevisions) -> None:
    kept.put("wiki", "Q1", 5, TRIPLES)
    kept.put("wiki", "Q1", 4, frozenset({"older"}))
    assert kept.get("wiki", "Q1", 5) == TRIPLES
    kept.put("wiki", "Q1", 6, frozenset({"newer"}))
    assert kept.get("wiki", "Q1", 5) is None
    assert kept.get("wiki", "Q1", 6) == {"newer"}


def test_what_is_dropped_is_gone_and_leaves_its_place(tmp_path: Path) -> None:
    kept = KeptRevisions(tmp_path, 20_000)
    for entity in (1, 2, 3):
        kept.put("wiki", f"Q{entity}", 5, _triples_of(entity, 5))
    kept.drop("wiki", "Q2")
    kept.drop("wiki", "Q9")
    assert kept.get("wiki", "Q2", 5) is None
    kept.put("wiki", "Q2", 4, _triples_of(2, 4))
    kept.put("wiki", "Q4", 5, _triples_of(4, 5))
    found = {entity: kept.get("wiki", f"Q{entity}", rev) for entity, rev in ((1, 5), (2, 4), (3, 5), (4, 5))}
    assert found == {1: _triples_of(1, 5), 2: _triples_of(2, 4), 3: _triples_of(3, 5), 4: _triples_of(4, 5)}
    kept.close()


def _triples_of(entity: int, rev: int) -> frozenset[str]:
    """Such as do not become smaller."""
    return frozenset({random.Random(f"{entity}/{rev}").randbytes(3000).hex()})


@settings(max_examples=20, deadline=None)
@given(puts=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6)), min_size=1, max_size=60))
def test_the_oldest_go_where_all_do_not_fit(puts: list[tuple[int, int]]) -> None:
    bound_bytes = 20_000
    with tempfile.TemporaryDirectory() as directory:
        kept = KeptRevisions(Path(directory), bound_bytes)
        for entity, rev in puts:
            kept.put("wiki", f"Q{entity}", rev, _triples_of(entity, rev))
        found = {(entity, rev): kept.get("wiki", f"Q{entity}", rev) for entity, rev in puts}
        kept.close()
    held = {place for place, triples in found.items() if triples is not None}
    assert all(found[place] == _triples_of(*place) for place in held)
    assert len(held) <= bound_bytes // 3_000
    entity, rev = puts[-1]
    assert any(other == entity and later >= rev for other, later in held), "of the last entity that or a later one"


def test_an_entity_that_is_too_large_is_not_kept(kept: KeptRevisions) -> None:
    kept.put("wiki", "Q1", 1, frozenset({os.urandom(MIB // 4).hex()}))
    assert kept.get("wiki", "Q1", 1) is None


def test_another_process_finds_it(tmp_path: Path, kept: KeptRevisions) -> None:
    kept.put("wiki", "Q1", 5, TRIPLES)
    program = (
        "import sys; from pathlib import Path; from pipeline.rdf.kept_revisions import KeptRevisions\n"
        "kept = KeptRevisions(Path(sys.argv[1]), 1024 * 1024)\n"
        "kept.put('wiki', 'Q2', 7, kept.get('wiki', 'Q1', 5))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "kept")], check=True)
    assert kept.get("wiki", "Q2", 7) == TRIPLES


@pytest.mark.parametrize("damage", [b"", b"no LMDB" * 2000], ids=["empty", "other"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    kept = KeptRevisions(tmp_path, MIB)
    kept.put("wiki", "Q1", 5, TRIPLES)
    kept.close()
    (tmp_path / "data.mdb").write_bytes(damage)
    kept = KeptRevisions(tmp_path, MIB)
    assert kept.get("wiki", "Q1", 5) is None
    kept.put("wiki", "Q1", 5, TRIPLES)
    assert kept.get("wiki", "Q1", 5) == TRIPLES
    kept.close()


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = KeptRevisions(tmp_path / "file" / "below", MIB)
    kept.put("wiki", "Q1", 5, TRIPLES)
    assert kept.get("wiki", "Q1", 5) is None
    kept.close()


def test_each_checkpoint_has_a_place_of_its_own() -> None:
    assert kept_directory("s3a://a") == kept_directory("s3a://a") != kept_directory("s3a://b")
