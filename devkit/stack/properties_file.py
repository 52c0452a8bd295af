r"""Java's `.properties` format, as Kafka's own clients are configured: each key with its value and its line.

`key=value`, `key: value` or `key value`; `#` and `!` begin a comment, a backslash at its end continues a line, and
backslashes escape: `\n`, `\t`, `\u00e9`, and any other character itself.
"""

import re
from collections.abc import Iterator

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_ENTRY = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", re.DOTALL)


def read_properties(text: str) -> Iterator[tuple[int, str, str]]:
    """The line at which each begins, counted from 1, its key and its value; a key may come more than once."""
    began, logical = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        piece = line.lstrip(" \t\f")
        if not logical and (not piece or piece[0] in "#!"):
            continue
        began = began if logical else number
        if _continues(piece):
            logical += piece[:-1] or " "
            continue
        yield began, *_entry(logical + piece)
        logical = ""
    if logical.strip():
        yield began, *_entry(logical)


def _continues(piece: str) -> bool:
    """An even number of backslashes at the end are escaped ones."""
    return (len(piece) - len(piece.rstrip("\\"))) % 2 == 1


def _entry(logical: str) -> tuple[str, str]:
    match = _ENTRY.match(logical)
    assert match is not None
    return _plain(match[1]), _plain(match[2])


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda match: _character(match[1]), text)


def _character(escaped: str) -> str:
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _PLAIN.get(escaped, escaped)
