"""Layout of plain text: lines wrapped at a terminal's width, and columns.

A pipe, a CI log or a file gets one line a statement, which `grep` finds whole.
"""

import os
import textwrap
from collections.abc import Iterator, Sequence
from typing import IO

_NARROWEST = 40


def width_of(stream: IO[str]) -> int | None:
    """The columns of a terminal; None where `stream` is none, so that its lines are not wrapped."""
    try:
        if not stream.isatty():
            return None
        return max(_NARROWEST, os.get_terminal_size(stream.fileno()).columns)
    except (OSError, ValueError):
        return None


def wrapped(text: str, first: str, width: int | None) -> list[str]:
    """`text` behind `first`, with further lines below it; what is to be copied, such as a path, is never broken.

    With None for the width it is one line.
    """
    flat = " ".join(text.split())
    if width is None:
        return [f"{first}{flat}".rstrip()]
    lines = textwrap.wrap(
        flat,
        width,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [first.rstrip()]


def columns(rows: Sequence[Sequence[str]], *, indent: str = "") -> Iterator[str]:
    """A line for each row, with columns as wide as their widest cell. All rows have the same number of cells."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"{indent}{'  '.join(padded)}".rstrip()
