"""Applies a unified diff to check it: the parent's HTML must become the latest HTML.

Applying it, instead of comparing it with a diff of our own, accepts every correct diff, whatever library made it.
"""

import re

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_NEWLINE = "\\ No newline at end of file"


class PatchError(Exception):
    """The diff does not fit the text; the message says at which of its lines."""


def apply_patch(before: str, patch: str) -> str:
    """The text after the diff. Raises PatchError when a line of context or of removal is not there."""
    old = _lines(before)
    new: list[str] = []
    position = 0
    # What the present hunk still has to have, by its header: lines of the old text, lines of the new.
    old_left = new_left = 0
    in_hunks = False
    lines = patch.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        place = f"line {number + 1} of the diff"
        if not in_hunks and line.startswith(("--- ", "+++ ")):
            continue
        if in_hunks and line == _NO_NEWLINE:
            # It speaks of the line before it, which is in `new` unless it was a removed one.
            if lines[number - 1][:1] in "+ " and new:
                new[-1] = new[-1].removesuffix("\n")
        elif not (old_left or new_left):
            match = _HUNK.match(line)
            if match is None:
                raise PatchError(f"{place} is no hunk: {line[:60]!r}")
            in_hunks = True
            start, old_left, new_left = int(match[1]), int(match[2] or 1), int(match[4] or 1)
            begin = start - 1 if old_left else start
            if not position <= begin <= len(old):
                raise PatchError(f"{place}: hunk begins at {begin}, of {len(old)} lines")
            new.extend(old[position:begin])
            position = begin
        elif line[:1] == "+" and new_left:
            new.append(line[1:] + "\n")
            new_left -= 1
        elif (line[:1] == "-" and old_left) or (line[:1] == " " and old_left and new_left):
            if position >= len(old) or old[position].removesuffix("\n") != line[1:]:
                raise PatchError(f"{place} does not fit line {position + 1} of the text")
            if line[0] == " ":
                new.append(old[position])
                new_left -= 1
            position += 1
            old_left -= 1
        else:
            raise PatchError(f"{place} does not belong to its hunk: {line[:60]!r}")
    if old_left or new_left:
        raise PatchError(f"the last hunk lacks {old_left} old and {new_left} new lines")
    return "".join([*new, *old[position:]])


def _lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    lines = [line + "\n" for line in lines]
    return [*lines, last] if last else lines
