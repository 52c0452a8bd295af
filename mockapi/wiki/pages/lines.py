"""Numbered lines of text, by the million: the filling of a document of an exact size.

    <p id="mw0000a3fs000">text, filled up with dots</p>

A line has LINE_BYTES, and the last one takes what is left, so lines and characters that JSON escapes (two quotes and a
newline a line) follow from the size alone. The text is multi-byte and needs no escaping.
"""

import random
from collections.abc import Iterator
from typing import Final

from mockapi.wiki.pages.prose import LANGUAGES, prose

LINE_BYTES: Final = 100

_START: Final = '<p id="mw'
_NUMBER_DIGITS: Final = 7
_MARK_CHARACTERS: Final = 4
_TAIL: Final = '{}">{}</p>\n'
MARKUP_BYTES: Final = len(_START) + _NUMBER_DIGITS + _MARK_CHARACTERS + len(_TAIL.format("", ""))
"""A line without text: the shortest there is."""

_PHRASES: Final = 96
_LOW_DIGITS: Final = tuple(b"%03x" % number for number in range(4096))
_LINES_A_PIECE: Final = 2048  # divides 4096, so that all lines of a piece have the same high digits


def line_count(total_bytes: int) -> int:
    """One a `LINE_BYTES`, and at least one."""
    return max(1, total_bytes // LINE_BYTES)


def lines(first: int, total_bytes: int, mark: str, key: bytes) -> Iterator[bytes]:
    """`total_bytes` (at least MARKUP_BYTES) of lines numbered from `first`, some thousand lines at a time.

    `mark` has four characters and is in the id of each line; `key` decides the texts.
    """
    source = random.Random(key)
    phrases = _phrases(source)
    tails = [_TAIL.format(mark, text).encode() for text in phrases]
    start, last = first, first + line_count(total_bytes) - 1
    while start < last:
        stop = min(start - start % _LINES_A_PIECE + _LINES_A_PIECE, last)
        # A third of a microsecond a line decides how fast a gigabyte is; so no line is formatted by itself.
        high = f"{_START}{start >> 12:04x}".encode()
        parts = [high] * (3 * (stop - start))
        parts[1::3] = _LOW_DIGITS[start % 4096 : start % 4096 + stop - start]
        parts[2::3] = source.choices(tails, k=stop - start)
        yield b"".join(parts)
        start = stop
    left = total_bytes - (last - first) * LINE_BYTES
    text = exactly(phrases[0], left - MARKUP_BYTES)
    yield f"{_START}{last:07x}{_TAIL.format(mark, text)}".encode()


def exactly(text: str, width_bytes: int) -> str:
    """`text` cut at a character and filled up with dots, to `width_bytes` of UTF-8."""
    cut = text.encode()[:width_bytes].decode(errors="ignore")
    return cut + "." * (width_bytes - len(cut.encode()))


def _phrases(source: random.Random) -> list[str]:
    """Texts of the width of a line, in several scripts, without any character that JSON escapes."""
    texts = []
    for _ in range(_PHRASES):
        plain = prose(LANGUAGES[int(source.random() * len(LANGUAGES))]).plain
        texts.append(exactly(plain[int(source.random() * len(plain))], LINE_BYTES - MARKUP_BYTES))
    return texts
