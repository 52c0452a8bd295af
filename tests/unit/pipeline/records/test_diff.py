import difflib
import random
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devkit.observe.expected_output.patch import apply_patch
from pipeline.records import diff as diffs
from pipeline.records.diff import unified_diff, unified_diff_of_bytes

# Characters that `str.splitlines` takes for line ends, and those that mean something in a diff or to git: a NUL makes
# a file binary. Half a surrogate pair cannot be encoded.
TEXTS = st.text(alphabet="ab\n\r\x0b\x0c\x85\u2028-+ @\\\0é\ud800", max_size=80)
# Few kinds of lines, so that changes can move among equal ones; long enough that git is shown only a part.
TABLES = st.tuples(st.lists(st.sampled_from("xq"), max_size=6), st.integers(0, 30)).map(
    lambda table: list(table[0] * table[1])
)
LINES = st.lists(st.sampled_from(["<p>a</p>", "<p>b</p>", "", "-- x", "++ y", "@@ -1 +1 @@", "\\ No newline"]))


def diff(before: str, after: str) -> str:
    return unified_diff(before, after, before_name="revision/1", after_name="revision/2")


def numbered(first: int, last: int) -> list[str]:
    return [f"line {number}\n" for number in range(first, last + 1)]


def hunk_ends(written: str) -> Iterator[tuple[int, int]]:
    """For each hunk, its last line in the old text, and how many lines of context it ends with."""
    for hunk in written.split("\n@@ -")[1:]:
        start, _, length = hunk.split(" ")[0].partition(",")
        marks = "".join(line[0] for line in hunk.split("\n")[1:] if line)
        yield int(start) + int(length or 1) - 1, len(marks) - len(marks.rstrip(" "))


@given(before=TEXTS, after=TEXTS)
@example(before="", after="a")
@example(before="a", after="")
@example(before="a", after="a\n")
@example(before="\n", after="")
@example(before="a\r\nb", after="a\nb")
@example(before="-- a\n-- b\n", after="++ a\n")
def test_the_diff_turns_one_text_into_the_other(before: str, after: str) -> None:
    assert apply_patch(before, diff(before, after)) == after


@given(before=TEXTS, after=TEXTS)
def test_bytes_have_the_diff_that_their_text_has(before: str, after: str) -> None:
    old, new = before.encode(errors="surrogatepass"), after.encode(errors="surrogatepass")
    written = unified_diff_of_bytes(old, new, before_name="revision/1", after_name="revision/2")
    assert written == diff(before, after).encode(errors="surrogatepass")


@given(before=TEXTS, after=TEXTS)
@example(before="a\nb\nc\nd\n", after="a\nb\nc\ne")
@example(before="", after="a")
@example(before="a\n\n", after="a\n")
def test_a_part_too_long_to_be_matched_is_replaced(before: str, after: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diffs, "MOST_LINES", -1)
        assert apply_patch(before, diff(before, after)) == after


@given(lead=TABLES, rows=TABLES, tail=TABLES, rest=LINES)
def test_changes_among_equal_lines_apply_and_keep_their_context(
    lead: list[str], rows: list[str], tail: list[str], rest: list[str]
) -> None:
    """Without lines of context behind it, a hunk says to other programs that it ends the text."""
    old = [*lead, "old", "c", *tail, *tail, *rest]
    new = [*lead, "new", "c", *rows, *tail, *tail, *rest]
    before, after = ("".join(line + "\n" for line in lines) for lines in (old, new))
    written = diff(before, after)
    assert apply_patch(before, written) == after
    for end, behind in hunk_ends(written):
        assert behind == 3 or end == len(old)


@given(common=LINES, old=LINES, new=LINES, rest=LINES, end=st.sampled_from(["", "\n"]))
def test_an_edit_in_a_document_applies(
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


@pytest.mark.parametrize("gap", range(1, 19))
def test_two_changes_share_a_hunk_or_not_as_with_difflib(gap: int) -> None:
    old = numbered(1, 40)
    new = [*numbered(1, 10), "x\n", *numbered(12, 11 + gap), "y\n", *numbered(13 + gap, 40)]
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


def test_a_change_that_moves_far_down_among_equal_lines() -> None:
    rows = ["x\n", "q\n"] * 50
    old, new = ["A\n", "C\n", *rows, *numbered(1, 9)], ["B\n", "C\n", "x\n", "q\n", *rows, *numbered(1, 9)]
    written = diff("".join(old), "".join(new))
    assert apply_patch("".join(old), written) == "".join(new)
    assert [behind for _, behind in hunk_ends(written)] == [3, 3]


@pytest.mark.parametrize("seed", range(3))
def test_lines_in_no_order_and_nothing_in_common(seed: int) -> None:
    random_ = random.Random(seed)
    old, new = numbered(1, 2_000), numbered(1, 2_000)
    random_.shuffle(new)
    for other in (new, [f"other {line}" for line in old]):
        assert apply_patch("".join(old), diff("".join(old), "".join(other))) == "".join(other)


def test_lines_whose_hashes_collide_are_told_apart() -> None:
    """git hashes a line as `hash * 33 ^ byte`: of these 4,096 lines, all have one hash."""
    lines, pairs, hash_ = [b""], [], 5381
    for _ in range(12):
        one, other, hash_ = colliding(hash_)
        pairs.append((one, other))
    for pair in pairs:
        lines = [line + choice for line in lines for choice in pair]
    before, after = b"\n".join(lines), b"\n".join(reversed(lines))
    written = unified_diff_of_bytes(before, after, before_name="revision/1", after_name="revision/2")
    assert apply_patch(before.decode(), written.decode()) == after.decode()


def colliding(hash_: int) -> tuple[bytes, bytes, int]:
    seen: dict[int, bytes] = {}
    for first in range(33, 127):
        for second in range(33, 127):
            value = ((((hash_ * 33) % 2**64) ^ first) * 33 % 2**64) ^ second
            if value in seen:
                return seen[value], bytes((first, second)), value
            seen[value] = bytes((first, second))
    raise AssertionError("no collision")
