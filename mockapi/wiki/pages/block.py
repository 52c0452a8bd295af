"""A document of an exact size, of which revision and parent differ in one block.

    frame (fixed bytes) │ lines … │ changed block │ lines … │ end (fixed bytes)

Sizes downstream (JSON record, unified diff) must follow from the size alone, so that a scenario can state them. Hence:
every line is unique, so all correct diffs agree; the number of lines and of characters that JSON escapes depends on
the size only; nothing outside the block depends on the revision. So, other than a real page, the document does not
name its revision, parent or SHA-1. Multi-byte text is in it, and not escaped.

    <p id="mw0000a3fs000">text, filled up with dots</p>

A line has LINE_BYTES, and the last one takes what is left.

A document below 4 KiB has a smaller frame. Below half a KiB it has none and differs as a whole: a few lines, then
some characters, then nothing.
"""

import html
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mockapi.draws import digest
from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.prose import LANGUAGES, prose

LINE_BYTES: Final = 100

_LINE_START: Final = '<p id="mw'
_NUMBER_DIGITS: Final = 7
_MARK_CHARACTERS: Final = 4
_LINE_TAIL: Final = '{}">{}</p>\n'
MARKUP_BYTES: Final = len(_LINE_START) + _NUMBER_DIGITS + _MARK_CHARACTERS + len(_LINE_TAIL.format("", ""))
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
    tails = [_LINE_TAIL.format(mark, text).encode() for text in phrases]
    start, last = first, first + line_count(total_bytes) - 1
    while start < last:
        stop = min(start - start % _LINES_A_PIECE + _LINES_A_PIECE, last)
        # A third of a microsecond a line decides how fast a gigabyte is; so no line is formatted by itself.
        high = f"{_LINE_START}{start >> 12:04x}".encode()
        parts = [high] * (3 * (stop - start))
        parts[1::3] = _LOW_DIGITS[start % 4096 : start % 4096 + stop - start]
        parts[2::3] = source.choices(tails, k=stop - start)
        yield b"".join(parts)
        start = stop
    left = total_bytes - (last - first) * LINE_BYTES
    text = exactly(phrases[0], left - MARKUP_BYTES)
    yield f"{_LINE_START}{last:07x}{_LINE_TAIL.format(mark, text)}".encode()


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


MIN_CHANGED_BYTES: Final = 128
MIN_SIZE_BYTES: Final = 0
MAX_SIZE_BYTES: Final = 1024 * 1024 * 1024

_HEAD_BYTES: Final = 2 * 1024
_END: Final = b"</section>\n</body>\n</html>\n"
_SMALL_HEAD: Final = (
    b'<!DOCTYPE html>\n<html><head><meta charset="utf-8"/><title>Small page</title></head>\n<body id="mwAA">\n'
)
_SMALL_END: Final = b"</body></html>\n"
_WHOLE_FRAME_FROM: Final = 4 * 1024
_SMALL_FRAME_FROM: Final = len(_SMALL_HEAD) + len(_SMALL_END) + 3 * MIN_CHANGED_BYTES
_UNCHANGED: Final = "s000"


@dataclass(frozen=True, slots=True)
class Block:
    """A document of `size_bytes` (UTF-8) with a changed block of `changed_bytes`."""

    size_bytes: int
    changed_bytes: int


def most_changed_bytes(size_bytes: int) -> int:
    """How large the changed block of a document of `size_bytes` can be; a line stays on either side of it, if the
    document has a frame.
    """
    if size_bytes < _SMALL_FRAME_FROM:
        return size_bytes
    return size_bytes - _frame_bytes(size_bytes) - 2 * MIN_CHANGED_BYTES


def block_parts(seed: int, located: Located, block: Block) -> Iterator[bytes]:
    """The document from its start, some 200 KB at a time."""
    page, size = located.page, block.size_bytes
    page_key = (seed, "block", page.wiki, page.page_id)
    mark = f"r{located.revision.number:03x}"
    changed_key = digest(*page_key, "changed", mark)
    if size < MARKUP_BYTES:
        yield exactly(mark, size).encode()
        return
    if size < _SMALL_FRAME_FROM:
        yield from lines(0, size, mark, changed_key)
        return
    changed = min(block.changed_bytes, most_changed_bytes(size))
    rest = size - _frame_bytes(size) - changed
    before, after = rest // 2, rest - rest // 2
    whole = size >= _WHOLE_FRAME_FROM
    yield _head(located) if whole else _SMALL_HEAD
    first = 0
    yield from lines(first, before, _UNCHANGED, digest(*page_key, "before"))
    first += line_count(before)
    yield from lines(first, changed, mark, changed_key)
    first += line_count(changed)
    yield from lines(first, after, _UNCHANGED, digest(*page_key, "after"))
    yield _END if whole else _SMALL_END


def _frame_bytes(size_bytes: int) -> int:
    if size_bytes < _WHOLE_FRAME_FROM:
        return len(_SMALL_HEAD) + len(_SMALL_END)
    return _HEAD_BYTES + len(_END)


def _head(located: Located) -> bytes:
    page = located.page
    tags = [
        "<!DOCTYPE html>",
        '<html prefix="dc: http://purl.org/dc/terms/ mw: http://mediawiki.org/rdf/">',
        '<head><meta charset="utf-8"/>',
        f'<meta property="mw:pageId" content="{page.page_id}"/>',
        f'<meta property="mw:pageNamespace" content="{page.namespace_id}"/>',
        '<meta property="mw:htmlVersion" content="2.8.0"/>',
        "<title>{title}</title>",
        "<!--{padding}-->",
        "</head>",
        '<body id="mwAA" class="mw-content-ltr parsoid-body mediawiki mw-parser-output" dir="ltr">',
        '<section data-mw-section-id="0" id="mwAQ">',
    ]
    text = "\n".join(tags) + "\n"
    room = _HEAD_BYTES - len(text.format(title="", padding=""))
    title = _escaped(page.title, room)
    return text.format(title=title, padding=" " * (room - len(title.encode()))).encode()


def _escaped(title: str, room: int) -> str:
    """`title` without any character that JSON escapes, cut to `room` bytes at a character."""
    characters = (html.escape(character).replace("\\", "&#92;") for character in title)
    shown = ""
    for character in characters:
        printable = character if character.isprintable() else "\ufffd"
        if len((shown + printable).encode()) > room:
            break
        shown += printable
    return shown
