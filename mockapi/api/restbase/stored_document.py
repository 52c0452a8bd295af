"""The HTML as RESTBase kept it: with the id of its render first in its head."""

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from mockapi.api.rest.html_render import Render, html_body
from mockapi.plan import Plan
from mockapi.server.reply import Body, Held, Streamed
from mockapi.wiki.pages.coding import Coding, encoded
from mockapi.wiki.pages.pieces import even

if TYPE_CHECKING:
    from mockapi.world import World

_HEAD: Final = re.compile(rb"<head\b[^>]*>")
_HEAD_WITHIN_BYTES: Final = 4096


async def stored_body(world: "World", render: Render, plan: Plan, coding: Coding | None, tid: str) -> Body:
    """The document as it leaves; one without a head is as it is."""
    mark = f'<meta property="mw:TimeUuid" content="{tid}"/>'.encode()
    plain = await html_body(world, render, plan, None)
    parts = partial(_marked, plain, mark)
    if plain.held:
        data = b"".join(parts())
        return Held(data) if coding is None else Held(b"".join(encoded(coding, (data,))), len(data))
    if coding is None:
        return Streamed(parts, None, plain.decoded_bytes)
    return Streamed(lambda: encoded(coding, even(parts())), None, plain.decoded_bytes)


def _marked(plain: Body, mark: bytes) -> Iterator[bytes]:
    pieces = plain.pieces()
    first = next(pieces, b"")
    head = _HEAD.search(first, 0, _HEAD_WITHIN_BYTES)
    yield first if head is None else first[: head.end()] + mark + first[head.end() :]
    yield from pieces
