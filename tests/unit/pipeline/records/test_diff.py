import difflib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devkit.observe.audit.patch import apply_patch
from pipeline.records.diff import unified_diff

# Characters that `str.splitlines` takes for line ends, and those that mean something in a diff.
TEXTS = st.text(alphabet="ab\n\r\x0b\x0c\x85\u2028-+ @\\", max_size=80)
LINES = st.lists(st.sampled_from(["<p>a</p>", "<p>b</p>", "", "-- x", "++ y", "@@ -1 +1 @@", "\\ No newline"]))


def diff(before: str, after: str) -> str:
    return unified_diff(before, after, before_name="revision/1", after_name="revision/2")


def numbered(first: int, last: int) -> list[str]:
    return [f"line {number}\n" for number in range(first, last + 1)]


@given(before=TEXTS, after=TEXTS)
@example(before="", after="a")
@example(before="a", after="")
@example(before="a", after="a\n")
@example(before="\n", after="")
@example(before="a\r\nb", after="a\nb")
@example(before="-- a\n-- b\n", after="++ a\n")
def test_the_diff_turns_one_text_into_the_other(before: str, after: str) -> None:
    assert apply_patch(before, diff(before, after)) == after


@given(common=LINES, old=LINES, new=LINES, rest=LINES, end=st.sampled_from(["", "\n"]))
def test_an_edit_within_a_document_applies(
    common: list[str], old: list[str], new: list[str], rest: list[str], end: str
) -> None:
    before, after = "\n".join([*common, *old, *rest]) + end, "\n".join([*common, *new, *rest]) + end
    assert apply_patch(before, diff(before, after)) == after


@given(TEXTS)
def test_equal_texts_have_an_empty_diff(text: str) -> None:
    assert diff(text, text) == ""


@given(before=TEXTS, after=TEXTS)
def test_every_line_of_a_diff_is_a_header_a_hunk_or_marked(before: str, after: str) -> None:
    written = diff(before, after)
    if before == after:
        return
    names, lines = written.split("\n")[:2], written.split("\n")[2:]
    assert names == ["--- revision/1", "+++ revision/2"]
    assert lines.pop() == "", "a diff ends with a line end"
    assert lines[0].startswith("@@ ")
    assert all(line[:1] in {" ", "-", "+", "@", "\\"} for line in lines)


@pytest.mark.parametrize("at", [*range(1, 13)])
@pytest.mark.parametrize("change", [[], ["changed\n"], ["one\n", "two\n"]], ids=["removed", "changed", "grown"])
def test_one_change_reads_as_difflib_writes_it(at: int, change: list[str]) -> None:
    old = numbered(1, 12)
    new = [*numbered(1, at - 1), *change, *numbered(at + 1, 12)]
    expected = "".join(difflib.unified_diff(old, new, "revision/1", "revision/2"))
    assert diff("".join(old), "".join(new)) == expected


@pytest.mark.parametrize("gap", range(1, 10))
def test_two_changes_share_a_hunk_or_not_as_with_difflib(gap: int) -> None:
    old = numbered(1, 30)
    new = [*numbered(1, 10), "x\n", *numbered(12, 11 + gap), "y\n", *numbered(13 + gap, 30)]
    expected = "".join(difflib.unified_diff(old, new, "revision/1", "revision/2"))
    assert diff("".join(old), "".join(new)) == expected
    assert expected.count("@@ -") == (1 if gap <= 6 else 2)


@pytest.mark.parametrize(
    ("before", "after", "hunk"),
    [
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        ("a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"),
        ("a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"),
        ("a\x0bb\n", "a\x0bc\n", "@@ -1 +1 @@\n-a\x0bb\n+a\x0bc\n"),
    ],
)
def test_the_ends_of_a_text(before: str, after: str, hunk: str) -> None:
    assert diff(before, after) == "--- revision/1\n+++ revision/2\n" + hunk


def test_a_block_in_a_large_document() -> None:
    """Matching all of it, line by equal line, would take minutes: what is equal at both ends is left out first."""
    before = "<p>same</p>\n" * 60_000 + "".join(numbered(1, 300)) + "<p>same</p>\n" * 60_000
    after = before.replace("line ", "LINE ")
    written = diff(before, after)
    assert written.splitlines()[2] == "@@ -59998,306 +59998,306 @@"
    assert written.count("\n") == 3 + 3 + 300 + 300 + 3
    assert apply_patch(before, written) == after
