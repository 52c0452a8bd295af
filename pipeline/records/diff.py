r"""A unified diff between the HTML of two revisions, as `diff -u` writes it.

Lines end at `\n` only: HTML may hold other characters that Python's `splitlines` takes for line ends.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher

CONTEXT_LINES = 3
NO_NEWLINE = "\n\\ No newline at end of file\n"

# As difflib says it: what happened, and from where to where in the old and in the new lines.
Block = tuple[str, int, int, int, int]


def unified_diff(before: str, after: str, *, before_name: str, after_name: str) -> str:
    """Hunks that turn `before` into `after`; empty when they are equal."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    # An edit touches a small part of a long page, so the matcher gets that part only.
    prefix = _common(old, new)
    suffix = _common(old[prefix:][::-1], new[prefix:][::-1])
    old_end, new_end = len(old) - suffix, len(new) - suffix
    # autojunk stays on: it gives up the shortest diff, never a correct one, and keeps long runs of equal lines linear.
    matcher = SequenceMatcher(None, old[prefix:old_end], new[prefix:new_end])
    before_it, after_it = min(prefix, CONTEXT_LINES), min(suffix, CONTEXT_LINES)
    blocks: list[Block] = [
        ("equal", prefix - before_it, prefix, prefix - before_it, prefix),
        *((tag, i + prefix, j + prefix, m + prefix, n + prefix) for tag, i, j, m, n in matcher.get_opcodes()),
        ("equal", old_end, old_end + after_it, new_end, new_end + after_it),
    ]
    parts = [f"--- {before_name}\n+++ {after_name}\n"]
    for hunk in _hunks(blocks):
        parts.extend(_written(hunk, old, new))
    return "".join(parts)


def _hunks(blocks: list[Block]) -> Iterator[list[Block]]:
    """Parts a long run of equal lines in two, and leaves each side its context."""
    hunk: list[Block] = []
    for tag, old_start, old_end, new_start, new_end in blocks:
        if tag == "equal" and old_end - old_start > 2 * CONTEXT_LINES:
            hunk.append((tag, old_start, old_start + CONTEXT_LINES, new_start, new_start + CONTEXT_LINES))
            yield hunk
            hunk = [(tag, old_end - CONTEXT_LINES, old_end, new_end - CONTEXT_LINES, new_end)]
        else:
            hunk.append((tag, old_start, old_end, new_start, new_end))
    yield hunk


def _written(hunk: list[Block], old: list[str], new: list[str]) -> Iterator[str]:
    old_range = _range(hunk[0][1], hunk[-1][2])
    new_range = _range(hunk[0][3], hunk[-1][4])
    yield f"@@ -{old_range} +{new_range} @@\n"
    for tag, old_start, old_end, new_start, new_end in hunk:
        if tag == "equal":
            yield from _marked(" ", old[old_start:old_end])
            continue
        yield from _marked("-", old[old_start:old_end])
        yield from _marked("+", new[new_start:new_end])


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line if line.endswith("\n") else mark + line + NO_NEWLINE


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    lines = [line + "\n" for line in lines]
    return [*lines, last] if last else lines


def _common(left: list[str], right: list[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
