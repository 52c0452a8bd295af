"""Lines of unit tests for each line of source: `python -m tests.line_counts` prints the house and its worst rooms.

A report, and no bound: a room may need more. The whole house is to stay at 0.86.
"""

import subprocess
from collections import Counter
from pathlib import PurePath
from typing import Final

from tests.integration_rooms import DISTRIBUTIONS, TOP, room_of

WORST: Final = 5
LEAST_LINES: Final = 100
"""A room with less source is not listed: one table is a high share of it."""


def counts() -> tuple[Counter[str], Counter[str]]:
    """Lines of source, and of unit tests, by room."""
    source: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    listed = subprocess.run(("git", "ls-files", "-z", "*.py"), cwd=TOP, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        path = PurePath(name)
        if not (TOP / path).exists():
            continue
        lines = len((TOP / path).read_text().splitlines())
        if path.parts[0] in DISTRIBUTIONS:
            source[room_of(path) or ""] += lines
        elif path.parts[:2] == ("tests", "unit"):
            mirrored = PurePath(*path.parts[2:])
            tests[(room_of(mirrored) if mirrored.parts[0] in DISTRIBUTIONS else None) or "(no room)"] += lines
    return source, tests


def report(source: Counter[str], tests: Counter[str]) -> list[str]:
    """The lines that are printed."""
    total = tests.total() / source.total()
    rooms = sorted(
        ((tests[room] / lines, room) for room, lines in source.items() if lines >= LEAST_LINES), reverse=True
    )
    return [
        f"unit tests: {tests.total():,} lines for {source.total():,} of source, {total:.3f} for each line",
        *(f"  {share:5.2f}  {room}: {tests[room]:,} for {source[room]:,}" for share, room in rooms[:WORST]),
    ]


if __name__ == "__main__":
    print("\n".join(report(*counts())))
