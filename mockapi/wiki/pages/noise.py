"""A document that a content coding hardly makes smaller: text as random as base64 is.

    small frame │ one line with the revision │ <pre> │ lines of base64 … │ </pre> and the end

Revision and parent differ in the one line. A document too small for the frame is base64 from end to end.
"""

import base64
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mockapi.draws import digest
from mockapi.wiki.located import Located

_HEAD: Final = (
    '<!DOCTYPE html>\n<html><head><meta charset="utf-8"/><title>Noise</title></head>\n<body id="mwAA">\n'
    '<p id="mwAQ">Revision {:016d}</p>\n<pre id="mwAg">\n'
)
_END: Final = b"</pre>\n</body></html>\n"
_FRAME_BYTES: Final = len(_HEAD.format(0)) + len(_END)
_LINE_BYTES: Final = 57  # make a line of 76 characters
_LINES: Final = 2048


@dataclass(frozen=True, slots=True)
class Noise:
    """A document of `size_bytes` before a content coding."""

    size_bytes: int


def noise_parts(seed: int, located: Located, noise: Noise) -> Iterator[bytes]:
    """Exactly `size_bytes`; a coding leaves three quarters of it, as base64 has six bits a byte."""
    page = located.page
    source = random.Random(digest(seed, "noise", page.wiki, page.page_id))
    framed = noise.size_bytes >= _FRAME_BYTES
    if framed:
        yield _HEAD.format(located.revision.rev_id).encode()
    missing = noise.size_bytes - _FRAME_BYTES if framed else noise.size_bytes
    while missing:
        lines = base64.encodebytes(source.randbytes(_LINE_BYTES * _LINES))[:missing]
        missing -= len(lines)
        yield lines
    if framed:
        yield _END
