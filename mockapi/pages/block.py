"""A document of an exact size, of which revision and parent differ in one block.

    frame (fixed bytes) │ lines … │ changed block │ lines … │ end (fixed bytes)

Sizes downstream (JSON record, unified diff) must follow from the size alone, so that a scenario can state them. Hence:
every line is unique, so all correct diffs agree; the number of lines and of characters that JSON escapes (two quotes
and a newline a line) depends on the size only; nothing outside the block depends on the revision. So, other than a
real page, the document does not name its revision, parent or SHA-1. Multi-byte text is in it, and not escaped.
"""

import html
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mockapi.draws import digest
from mockapi.pages.prose import LANGUAGES, prose
from mockapi.titles import Located

LINE_BYTES: Final = 100
MIN_CHANGED_BYTES: Final = 128
MIN_SIZE_BYTES: Final = 4 * 1024
MAX_SIZE_BYTES: Final = 512 * 1024 * 1024

_HEAD_BYTES: Final = 2 * 1024
_END: Final = b"</section>\n</body>\n</html>\n"
_LINE: Final = '<p id="mw{:07x}{}">{}</p>\n'
_MARKUP_BYTES: Final = len(_LINE.format(0, "s000", ""))
_UNCHANGED: Final = "s000"
_PHRASES: Final = 96
_LINES_A_PIECE: Final = 4096


@dataclass(frozen=True, slots=True)
class Block:
    """A document of `size_bytes` (UTF-8) with a changed block of `changed_bytes`."""

    size_bytes: int
    changed_bytes: int


class Abandoned(Exception):  # noqa: N818 - not an error: nobody waits for the result any more
    """The work was stopped half-way."""


def most_changed_bytes(size_bytes: int) -> int:
    """How large the changed block of a document of `size_bytes` can be; a line stays on either side."""
    return size_bytes - _HEAD_BYTES - len(_END) - 2 * MIN_CHANGED_BYTES


def render_block(seed: int, located: Located, block: Block, abandon: threading.Event | None = None) -> bytes:
    """The document; raises Abandoned soon after `abandon` is set."""
    pieces = []
    for piece in _pieces(seed, located, block):
        if abandon is not None and abandon.is_set():
            raise Abandoned
        pieces.append(piece)
    return b"".join(pieces)


def _pieces(seed: int, located: Located, block: Block) -> Iterator[bytes]:
    page = located.page
    changed = min(block.changed_bytes, most_changed_bytes(block.size_bytes))
    rest = block.size_bytes - _HEAD_BYTES - len(_END) - changed
    before, after = rest // 2, rest - rest // 2
    page_key = (seed, "block", page.wiki, page.page_id)
    yield _head(located)
    first = 0
    yield from _lines(first, before, _UNCHANGED, digest(*page_key, "before"))
    first += _line_count(before)
    mark = f"r{located.revision.number:03x}"
    yield from _lines(first, changed, mark, digest(*page_key, "changed", mark))
    first += _line_count(changed)
    yield from _lines(first, after, _UNCHANGED, digest(*page_key, "after"))
    yield _END


def _head(located: Located) -> bytes:
    page = located.page
    lines = [
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
    text = "\n".join(lines) + "\n"
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


def _line_count(total_bytes: int) -> int:
    return max(1, total_bytes // LINE_BYTES)


def _lines(first: int, total_bytes: int, mark: str, key: bytes) -> Iterator[bytes]:
    """`total_bytes` (at least MIN_CHANGED_BYTES) of lines numbered from `first`; the last one takes what is left."""
    source = random.Random(key)
    phrases = _phrases(source)
    count = _line_count(total_bytes)
    for start in range(0, count - 1, _LINES_A_PIECE):
        stop = min(start + _LINES_A_PIECE, count - 1)
        chosen = source.choices(phrases, k=stop - start)
        line = _LINE.format
        yield "".join(
            [line(first + n, mark, text) for n, text in zip(range(start, stop), chosen, strict=True)]
        ).encode()
    left = total_bytes - (count - 1) * LINE_BYTES
    yield _LINE.format(first + count - 1, mark, _exactly(phrases[0], left - _MARKUP_BYTES)).encode()


def _phrases(source: random.Random) -> list[str]:
    """Texts of the width of a line, in several scripts, without any character that JSON escapes."""
    texts = []
    for _ in range(_PHRASES):
        plain = prose(LANGUAGES[int(source.random() * len(LANGUAGES))]).plain
        texts.append(_exactly(plain[int(source.random() * len(plain))], LINE_BYTES - _MARKUP_BYTES))
    return texts


def _exactly(text: str, width_bytes: int) -> str:
    """`text` cut at a character and filled up, to `width_bytes` of UTF-8."""
    cut = text.encode()[:width_bytes].decode(errors="ignore")
    return cut + "." * (width_bytes - len(cut.encode()))
