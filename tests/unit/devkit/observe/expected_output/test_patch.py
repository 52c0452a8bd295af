from difflib import unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.expected_output.patch import PatchError, apply_patch

NO_NEWLINE = "\n\\ No newline at end of file\n"

# Few different lines, so that edits meet repeated ones; some look like parts of a diff.
line = st.sampled_from(
    ["<p>a</p>", "<p>b</p>", "", " ", "-- x", "++ y", "@@ -1 +1 @@", "\\ No newline", "\r", "\u2028é"]
)
document = st.builds(
    lambda lines, ends: "\n".join(lines) + ("\n" if ends and lines else ""), st.lists(line, max_size=12), st.booleans()
)


def split(text: str) -> list[str]:
    """At line feeds only, as `diff` does."""
    *whole, rest = text.split("\n")
    return [one + "\n" for one in whole] + ([rest] if rest else [])


def diff(before: str, after: str, context: int = 3) -> str:
    """What `diff -u` writes; difflib leaves the missing line feeds to its caller."""
    lines = unified_diff(split(before), split(after), "before", "after", n=context)
    return "".join(one if one.endswith("\n") else one + NO_NEWLINE for one in lines)


@given(document, document, st.integers(0, 4))
def test_a_correct_diff_gives_the_new_text(before: str, after: str, context: int) -> None:
    assert apply_patch(before, diff(before, after, context)) == after


@given(document)
def test_an_empty_diff_changes_nothing(text: str) -> None:
    assert apply_patch(text, "") == text


@given(document, document, st.data())
def test_a_diff_that_lost_a_line_is_refused(before: str, after: str, data: st.DataObject) -> None:
    lines = diff(before, after).split("\n")[:-1]
    body = [number for number, text in enumerate(lines) if number > 2 and text[:1] in "+-" and text != ""]
    if not body:
        return
    del lines[data.draw(st.sampled_from(body), label="lost line")]
    with pytest.raises(PatchError):
        apply_patch(before, "\n".join(lines) + "\n")


BEFORE = "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        ("@@ -2 +2 @@\n-two\n+TWO\n", "one\nTWO\nthree\n"),
        ("--- a\n+++ b\n@@ -2 +2 @@ function\n-two\n+TWO\n", "one\nTWO\nthree\n"),
        ("@@ -0,0 +1 @@\n+zero\n", "zero\none\ntwo\nthree\n"),
        ("@@ -3,0 +4,2 @@\n+four\n+five\n", "one\ntwo\nthree\nfour\nfive\n"),
        ("@@ -1,3 +0,0 @@\n-one\n-two\n-three\n", ""),
        ("@@ -3 +3 @@\n-three\n+three\n\\ No newline at end of file\n", "one\ntwo\nthree"),
        ("@@ -1 +1 @@\n-one\n+1\n@@ -3 +3 @@\n-three\n+3\n", "1\ntwo\n3\n"),
        ("@@ -2 +2 @@\n-two\n+TWO", "one\nTWO\nthree\n"),
    ],
)
def test_by_hand(patch: str, after: str) -> None:
    assert apply_patch(BEFORE, patch) == after


def test_the_line_feed_at_the_end_can_come_back_and_a_removed_line_may_look_like_a_header() -> None:
    assert apply_patch("one", "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n") == "one\n"
    assert apply_patch("-- x\n", "@@ -1 +1 @@\n--- x\n+++ y\n") == "++ y\n"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("nonsense\n", "line 1 of the diff is no hunk: 'nonsense'"),
        (" one\n", "line 1 of the diff is no hunk"),
        ("\\ No newline at end of file\n", "line 1 of the diff is no hunk"),
        ("--- a\n+++ b\n+zero\n", "line 3 of the diff is no hunk"),
        ("@@ -2 +2 @@\n-three\n+3\n", "line 2 of the diff does not fit line 2 of the text"),
        ("@@ -1,2 +1,2 @@\n one\n three\n", "line 3 of the diff does not fit line 2 of the text"),
        ("@@ -4 +4 @@\n-four\n+4\n", "line 2 of the diff does not fit line 4 of the text"),
        ("@@ -9 +9 @@\n-nine\n+9\n", "line 1 of the diff: hunk begins at 8, of 3 lines"),
        ("@@ -0 +1 @@\n-one\n+1\n", "line 1 of the diff: hunk begins at -1"),
        ("@@ -3 +3 @@\n-three\n+3\n@@ -1 +1 @@\n-one\n+1\n", "line 4 of the diff: hunk begins at 0"),
        ("@@ -2 +2 @@\n-two\n", "the last hunk lacks 0 old and 1 new lines"),
        ("@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n", "the last hunk lacks 1 old and 1 new lines"),
        ("@@ -2 +2 @@\n-two\n+TWO\n+more\n", "line 4 of the diff is no hunk"),
        ("@@ -2 +2 @@\n-two\n-three\n", "line 3 of the diff does not belong to its hunk: '-three'"),
        ("@@ -2 +2 @@\n*two\n", "line 2 of the diff does not belong to its hunk: '[*]two'"),
        ("@@ -2 +2 @@\n\n", "line 2 of the diff does not belong to its hunk: ''"),
    ],
)
def test_a_diff_that_does_not_fit_is_refused_with_its_line(patch: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        apply_patch(BEFORE, patch)
