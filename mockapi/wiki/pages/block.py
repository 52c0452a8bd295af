"""A document of an exact size, of which revision and parent differ in one block.

    frame (fixed bytes) │ lines … │ changed block │ lines … │ end (fixed bytes)

Sizes downstream (JSON record, unified diff) must follow from the size alone, so that a scenario can state them. Hence:
every line is unique, so all correct diffs agree; the number of lines and of characters that JSON escapes depends on
the size only; nothing outside the block depends on the revision. So, other than a real page, the document does not
name its revision, parent or SHA-1. Multi-byte text is in it, and not escaped.

A document below 4 KiB has a smaller frame. Below half a KiB it has none and differs as a whole: a few lines, then
some characters, then nothing.
"""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mockapi.draws import digest
from mockapi.wiki.located import Located
from mockapi.wiki.pages.lines import MARKUP_BYTES, exactly, line_count, lines

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
