"""Where lines end: at a terminal's width with a hanging indent, and nowhere else but at the end of a statement.

A pipe, a CI log or a file gets one line a statement, which `grep` finds whole.
"""

import os
import textwrap
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
