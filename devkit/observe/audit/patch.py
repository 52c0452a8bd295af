"""Applies a unified diff, to know whether it is one: what it makes of the parent's HTML must be the latest HTML.

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
    lines = patch.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        if number < 2 and line.startswith(("--- ", "+++ ")):
            continue
        if match := _HUNK.match(line):
            start, length = int(match[1]), int(match[2] or 1)
            begin = start - 1 if length else start
            if not position <= begin <= len(old):
                raise PatchError(f"line {number + 1} of the diff: hunk begins at {begin}, of {len(old)} lines")
            new.extend(old[position:begin])
            position = begin
        elif line == _NO_NEWLINE:
            # It speaks of the line before it, which is in `new` unless it was a removed one.
            if lines[number - 1][:1] in "+ " and new:
                new[-1] = new[-1].removesuffix("\n")
        elif line[:1] in " -":
            if position >= len(old) or old[position].removesuffix("\n") != line[1:]:
                raise PatchError(f"line {number + 1} of the diff does not fit line {position + 1} of the text")
            if line[0] == " ":
                new.append(old[position])
            position += 1
        elif line[:1] == "+":
            new.append(line[1:] + "\n")
        else:
            raise PatchError(f"line {number + 1} of the diff is none: {line[:60]!r}")
    return "".join([*new, *old[position:]])


def _lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    lines = [line + "\n" for line in lines]
    return [*lines, last] if last else lines
