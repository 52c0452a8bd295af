r"""A unified diff between the HTML of two revisions, as `diff -u` writes it.

Lines end at `\n` only: HTML may hold other characters that Python's `splitlines` takes for line ends, and NULs.

git's diff does the work, by way of libgit2. It gets the part that differs, with a few lines around it, since an edit
touches a small part of a long page; and it gets a number for each line: its hash of a line has no secret, so that a
page can be made whose lines all collide.

It does not release the GIL, so what it is asked is bounded: where nothing is in order, its time grows with the power
1.5 of the number of lines.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from itertools import chain, count

from pygit2 import Patch
from pygit2.enums import DiffOption

Text = bytes | bytearray

CONTEXT_LINES = 3
MOST_LINES = 400_000
"""Old and new lines that are matched; more are replaced as one block. At worst they take about a second."""

_NO_NEWLINE = b"\n\\ No newline at end of file"
# What git is shown around the part that differs: its context, and room to move a change among equal lines.
_AROUND_LINES = CONTEXT_LINES + 5
_STEP_BYTES = 1 << 16
# Lines of text begin with a mark, so these are headers.
_HEADER = re.compile(rb"@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@")
# What git is given for the lines of most pages, made once.
_TOKENS = tuple(b"%d\n" % number for number in range(4096))


def unified_diff(before: str, after: str, *, before_name: str, after_name: str) -> str:
    """Hunks that turn `before` into `after`; empty when they are equal."""
    if before == after:
        return ""
    # Half a surrogate pair is text too, however it came here.
    old, new = before.encode(errors="surrogatepass"), after.encode(errors="surrogatepass")
    diff = unified_diff_of_bytes(old, new, before_name=before_name, after_name=after_name)
    return diff.decode(errors="surrogatepass")


def unified_diff_of_bytes(before: Text, after: Text, *, before_name: str, after_name: str) -> bytes:
    """As `unified_diff`, for texts that are not decoded."""
    if before == after:
        return b""
    start, old_end, new_end = _differing(before, after)
    if _has_too_many_lines(before, after, start, old_end, new_end):
        hunks = _replaced(before, after, start, old_end, new_end)
    else:
        hunks = _matched(before, after, start, old_end, new_end)
    return f"--- {before_name}\n+++ {after_name}\n".encode() + hunks


def _has_too_many_lines(before: Text, after: Text, start: int, old_end: int, new_end: int) -> bool:
    if old_end - start + new_end - start <= MOST_LINES:
        return False  # a line has a byte at least
    return before.count(b"\n", start, old_end) + after.count(b"\n", start, new_end) > MOST_LINES


def _differing(before: Text, after: Text) -> tuple[int, int, int]:
    """The beginning of the differing part in both texts, and its end in each: whole lines, as few as can be found
    cheaply.
    """
    with memoryview(after) as view:
        prefix = _common_prefix(before, 0, view)
        suffix = _common_suffix(before, view, min(len(before), len(after)) - prefix)
    start = before.rfind(b"\n", 0, prefix) + 1
    # The first line end within the suffix is one in both.
    line_end = before.find(b"\n", len(before) - suffix)
    equal = len(before) - line_end - 1 if line_end >= 0 else 0
    return start, len(before) - equal, len(after) - equal


def _matched(before: Text, after: Text, start: int, old_end: int, new_end: int) -> bytes:
    lead, start, shift = _lead(before, after, start, old_end, new_end)
    first = _lines_back(before, start, _AROUND_LINES)
    context = _lines_on(before, old_end, _AROUND_LINES) - old_end
    lines_before = before.count(b"\n", 0, first)
    new = first + shift
    hunks = _hunks(_part(before, first, old_end + context), _part(after, new, new_end + context), lines_before)
    if old_end + context < len(before) and not _ends_with_context(hunks):
        # Among equal lines git moves a change down, here as far as it saw.
        hunks = _hunks(_part(before, first), _part(after, new), lines_before)
    return lead + hunks


def _lead(before: Text, after: Text, start: int, old_end: int, new_end: int) -> tuple[bytes, int, int]:
    """The hunk of a first line that differs far before the next, as the one does in which HTML says of which revision
    it is: so the lines between need not be matched. Then where the rest begins in `before`, and how many bytes further
    on in `after`.
    """
    old, new = before.find(b"\n", start, old_end) + 1, after.find(b"\n", start, new_end) + 1
    if not old or not new:
        return b"", start, 0
    with memoryview(after)[new:new_end] as view:
        equal = _common_prefix(before, old, view)
    rest = before.rfind(b"\n", old, min(old + equal, old_end)) + 1
    if _lines_back(before, rest, 2 * _AROUND_LINES) < old:
        return b"", start, 0
    return _replaced(before, after, start, old, new), rest, new - old


def _part(text: Text, start: int, end: int | None = None) -> bytes:
    with memoryview(text) as all_of_it:
        return bytes(all_of_it[start:end])


def _hunks(before: bytes, after: bytes, lines_before: int) -> bytes:
    tokens = defaultdict[bytes, bytes](chain(_TOKENS, map(b"%d\n".__mod__, count(len(_TOKENS)))).__next__)
    old, new = (b"".join(map(tokens.__getitem__, _lines(text))) for text in (before, after))
    patch = Patch.create_from(old, new, flag=DiffOption.FORCE_TEXT, context_lines=CONTEXT_LINES).data
    lines = list(tokens)
    # Before the first hunk stand git's own names.
    rows = patch[patch.index(b"\n@@ ") + 1 : -1].split(b"\n")
    text = [_moved(row, lines_before) if row[:1] == b"@" else row[:1] + lines[int(row[1:])] for row in rows]
    return b"\n".join(text) + b"\n"


def _lines(text: bytes) -> list[bytes]:
    """Without their line ends; a last line that has none says so, and so is another one than with it."""
    *lines, last = text.split(b"\n")
    return [*lines, last + _NO_NEWLINE] if last else lines


def _moved(header: bytes, lines: int) -> bytes:
    match = _HEADER.fullmatch(header)
    assert match is not None
    old, old_length, new, new_length = match.groups()
    return b"@@ -%d%b +%d%b @@" % (int(old) + lines, old_length, int(new) + lines, new_length)


def _ends_with_context(hunks: bytes) -> bool:
    """Whether git found as many equal lines behind the last change as it wanted."""
    end = len(hunks) - 1
    for _ in range(CONTEXT_LINES):
        line = hunks.rfind(b"\n", 0, end) + 1
        if hunks[line : line + 1] != b" ":
            return False
        end = line - 1
    return True


def _replaced(before: Text, after: Text, start: int, old_end: int, new_end: int) -> bytes:
    """One hunk that removes the old part and adds the new one: correct, and far from short."""
    first = _lines_back(before, start, CONTEXT_LINES)
    lead, tail = before[first:start], before[old_end : _lines_on(before, old_end, CONTEXT_LINES)]
    old, new = before[start:old_end], after[start:new_end]
    around, line = _line_count(lead) + _line_count(tail), before.count(b"\n", 0, first)
    old_range, new_range = _range(line, around + _line_count(old)), _range(line, around + _line_count(new))
    marked = _marked(b" ", lead), _marked(b"-", old), _marked(b"+", new), _marked(b" ", tail)
    return f"@@ -{old_range} +{new_range} @@\n".encode() + b"".join(marked)


def _marked(mark: bytes, text: Text) -> bytes:
    if not text:
        return b""
    marked = mark + text.replace(b"\n", b"\n" + mark)
    return marked[:-1] if text.endswith(b"\n") else marked + _NO_NEWLINE + b"\n"


def _range(lines_before: int, length: int) -> str:
    if length == 1:
        return f"{lines_before + 1}"
    return f"{lines_before + 1 if length else lines_before},{length}"


def _line_count(text: Text) -> int:
    return text.count(b"\n") + (text != b"" and not text.endswith(b"\n"))


def _lines_back(text: Text, start: int, lines: int) -> int:
    """The start of the line that is the given number of lines before the one at `start`."""
    for _ in range(lines):
        start = text.rfind(b"\n", 0, max(start - 1, 0)) + 1
    return start


def _lines_on(text: Text, end: int, lines: int) -> int:
    for _ in range(lines):
        end = text.find(b"\n", end) + 1 or len(text)
    return end


def _common_prefix(left: Text, start: int, right: memoryview) -> int:
    """Of `left` from `start` on. `startswith` compares without a copy, and faster than memoryviews do."""

    def same(equal: int, length: int) -> bool:
        return left.startswith(right[equal : equal + length], start + equal)

    return _equal_bytes(same, min(len(left) - start, len(right)))


def _common_suffix(left: Text, right: memoryview, limit: int) -> int:
    """At most `limit`."""

    def same(equal: int, length: int) -> bool:
        right_end = len(right) - equal
        return left.startswith(right[right_end - length : right_end], len(left) - equal - length)

    return _equal_bytes(same, limit)


def _equal_bytes(same: Callable[[int, int], bool], limit: int) -> int:
    """The number that are equal, at most `limit`. `same(equal, length)`: whether the next `length` bytes are, too."""
    equal = 0
    while equal < limit:
        step = min(_STEP_BYTES, limit - equal)
        if not same(equal, step):
            break
        equal += step
    end = min(equal + _STEP_BYTES, limit)
    while equal < end:
        middle = (equal + end + 1) // 2
        if same(equal, middle - equal):
            equal = middle
        else:
            end = middle - 1
    return equal
