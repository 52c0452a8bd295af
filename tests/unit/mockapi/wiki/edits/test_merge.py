import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockapi.wiki.edits.merge import merge

BASE = "a\nb\nc\nd\ne"


@pytest.mark.parametrize(
    ("mine", "yours", "merged"),
    [
        ("a\nb\nc\nd\nE", "A\nb\nc\nd\ne", "A\nb\nc\nd\nE"),
        ("a\nb\nc\nd\ne\nf", "z\na\nb\nc\nd\ne", "z\na\nb\nc\nd\ne\nf"),
        ("a\nd\ne", "a\nb\nc\nd\nE", "a\nd\nE"),
        ("a\nB\nc\nd\ne", "a\nB\nc\nd\nE", "a\nB\nc\nd\nE"),
        ("a\nB\nc\nd\ne", "a\nb\nC\nd\ne", None),
        ("a\nB\nc\nd\ne", "a\nX\nc\nd\ne", None),
        ("a\nb\nc\nd\ne\nf", "a\nb\nc\nd\ne\ng", None),
        ("", "a\nb\nc\nd\nE", None),
        ("X", "X", "X"),
        (BASE, "X", "X"),
        ("X", BASE, "X"),
        ("a\nb\nc\nd\nE\n\n", "A\nb\nc\nd\ne\n", "A\nb\nc\nd\nE"),
    ],
)
def test_changes_apart_are_merged_and_others_conflict(mine: str, yours: str, merged: str | None) -> None:
    assert merge(BASE, mine, yours) == merged
    if not mine.endswith("\n"):
        assert merge(BASE, yours, mine) == merged


LINES = st.lists(st.integers(0, 5).map(str), max_size=6)


@pytest.mark.skipif(shutil.which("diff3") is None, reason="diff3 is not there")
@given(changes=st.tuples(LINES, LINES, st.integers(0, 12), st.integers(0, 12)))
@settings(max_examples=40, deadline=None)
@pytest.mark.starts_process("diff3 has to come to the same")
def test_it_merges_as_diff3_does(changes: tuple[list[str], list[str], int, int]) -> None:
    """Where all lines of the base are different, there is one way to compare them."""
    base = [f"line {number}" for number in range(12)]
    texts = [base]
    for put, at in ((changes[0], changes[2]), (changes[1], changes[3])):
        texts.append([*base[:at], *put, *base[min(at + 2, len(base)) :]])
    old, mine, yours = ("\n".join(lines) for lines in texts)
    if mine == yours or base in (texts[1], texts[2]):
        return
    conflict, whole = (_diff3(option, mine, old, yours) for option in ("--overlap-only", "--merge"))
    assert merge(old, mine, yours) == (None if conflict else whole.rstrip())


def _diff3(option: str, *texts: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, text in enumerate(texts):
            files.append(Path(folder) / str(number))
            files[-1].write_text(text + "\n")
        command = ["diff3", "--text", option, *map(str, files)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
