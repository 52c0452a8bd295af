"""A document that a content coding makes a thousand times smaller: 1 GiB of it is a megabyte of gzip.

    small frame │ one line with the revision │ <pre> │ 00000000000 … │ </pre> and the end

Revision and parent differ in the one line. A document too small for the frame is zeros from end to end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mockapi.server.reply import PIECE_BYTES
from mockapi.wiki.located import Located

_HEAD: Final = (
    '<!DOCTYPE html>\n<html><head><meta charset="utf-8"/><title>Zeros</title></head>\n<body id="mwAA">\n'
    '<p id="mwAQ">Revision {:016d}</p>\n<pre id="mwAg">'
)
_END: Final = b"</pre>\n</body></html>\n"
_FRAME_BYTES: Final = len(_HEAD.format(0)) + len(_END)
_ZEROS: Final = b"0" * PIECE_BYTES


@dataclass(frozen=True, slots=True)
class Bomb:
    """A document of `size_bytes` before a content coding."""

    size_bytes: int


def bomb_parts(located: Located, bomb: Bomb) -> Iterator[bytes]:
    """Exactly `size_bytes`, nearly all of it zeros, which a content coding shrinks to next to nothing."""
    framed = bomb.size_bytes >= _FRAME_BYTES
    if framed:
        yield _HEAD.format(located.revision.rev_id).encode()
    zeros = bomb.size_bytes - _FRAME_BYTES if framed else bomb.size_bytes
    for start in range(0, zeros, PIECE_BYTES):
        yield _ZEROS[: zeros - start]
    if framed:
        yield _END
