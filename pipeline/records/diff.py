r"""A unified diff between the HTML of two revisions, as `diff -u` writes it.

Lines end at `\n` only: HTML may hold other characters that Python's `splitlines` takes for line ends.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher

CONTEXT_LINES = 3
NO_NEWLINE = "\n\\ No newline at end of file\n"


def unified_diff(before: str, after: str, *, before_name: str, after_name: str) -> str:
    """Hunks that turn `before` into `after`; empty when they are equal."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    # An edit touches a small part of a long page, so the matcher gets that part only. What is cut off at either end
    # is equal on both sides, less the context that the outer hunks need.
    prefix = _common(old, new)
    suffix = _common(old[prefix:][::-1], new[prefix:][::-1])
    start = max(0, prefix - CONTEXT_LINES)
    keep = max(0, suffix - CONTEXT_LINES)
    old, new = old[start : len(old) - keep], new[start : len(new) - keep]
    # autojunk stays on: it gives up the shortest diff, never a correct one, and keeps long runs of equal lines linear.
    matcher = SequenceMatcher(None, old, new)
    parts = [f"--- {before_name}\n+++ {after_name}\n"]
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        parts.extend(_hunk(group, old, new, start))
    return "".join(parts)


def _hunk(group: list[tuple[str, int, int, int, int]], old: list[str], new: list[str], shift: int) -> Iterator[str]:
    old_range = _range(group[0][1] + shift, group[-1][2] + shift)
    new_range = _range(group[0][3] + shift, group[-1][4] + shift)
    yield f"@@ -{old_range} +{new_range} @@\n"
    for tag, old_start, old_end, new_start, new_end in group:
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
