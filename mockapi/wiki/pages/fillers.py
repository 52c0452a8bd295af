"""Documents of any size that a content coding makes far smaller (`Bomb`) or hardly smaller (`Noise`).

    small frame │ one line with the revision │ <pre> │ zeros or base64 … │ </pre> and the end

Revision and parent differ in the one line. A document that is too small for the frame has none.
"""

import base64
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from mockapi.draws import digest
from mockapi.server.reply import PIECE_BYTES
from mockapi.wiki.catalog import Located

_HEAD: Final = (
    '<!DOCTYPE html>\n<html><head><meta charset="utf-8"/><title>{title}</title></head>\n<body id="mwAA">\n'
    '<p id="mwAQ">Revision {rev_id:016d}</p>\n<pre id="mwAg">'
)
_END: Final = b"</pre>\n</body></html>\n"
_ZEROS: Final = b"0" * PIECE_BYTES
_LINE_BYTES: Final = 57  # make a line of 76 characters
_LINES: Final = 2048


@dataclass(frozen=True, slots=True)
class Bomb:
    """A document of `size_bytes` before a content coding; 1 GiB of it is a megabyte of gzip."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class Noise:
    """A document of `size_bytes` before a content coding; three quarters remain, as base64 has six bits a byte."""

    size_bytes: int


def bomb_parts(located: Located, bomb: Bomb) -> Iterator[bytes]:
    """Exactly `size_bytes`, nearly all of it zeros."""
    head = _HEAD.format(title="Zeros", rev_id=located.revision.rev_id)
    return _framed(head, bomb.size_bytes, _zeros)


def noise_parts(seed: int, located: Located, noise: Noise) -> Iterator[bytes]:
    """Exactly `size_bytes`, nearly all of it base64 of random bytes."""
    head = _HEAD.format(title="Noise", rev_id=located.revision.rev_id) + "\n"
    source = random.Random(digest(seed, "noise", located.page.wiki, located.page.page_id))

    def random_lines(count: int) -> Iterator[bytes]:
        while count:
            lines = base64.encodebytes(source.randbytes(_LINE_BYTES * _LINES))[:count]
            count -= len(lines)
            yield lines

    return _framed(head, noise.size_bytes, random_lines)


def _framed(head: str, size_bytes: int, fill: Callable[[int], Iterator[bytes]]) -> Iterator[bytes]:
    frame_bytes = len(head) + len(_END)
    if size_bytes < frame_bytes:
        yield from fill(size_bytes)
        return
    yield head.encode()
    yield from fill(size_bytes - frame_bytes)
    yield _END


def _zeros(count: int) -> Iterator[bytes]:
    return (_ZEROS[: count - start] for start in range(0, count, PIECE_BYTES))
