"""Bodies ready to send: rendered, encoded and cached, with the long work outside the event loop.

              an article, a short text      up to some MiB                more
plain         rendered at once, held        rendered in a thread, held    streamed
encoded       encoded at once, held         encoded in a thread, held     streamed, of unknown length

A document that compresses to next to nothing is encoded and held whatever its size. What is streamed is made anew for
each request, and never there as a whole.
"""

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Final

from mockapi.server.reply import Body, Held, Streamed
from mockapi.wiki.located import Located
from mockapi.wiki.pages.bomb import Bomb
from mockapi.wiki.pages.cache import ByteLru
from mockapi.wiki.pages.coding import Coding, encoded
from mockapi.wiki.pages.document import Document, Shape
from mockapi.wiki.pages.flavor import Flavor
from mockapi.wiki.pages.work import SharedWork
from mockapi.wiki.wikis import Wikis

CACHE_BYTES: Final = 128 * 1024 * 1024
HELD_BYTES: Final = 4 * 1024 * 1024
"""Longer plain documents are streamed: 100 MB of one take a tenth of a second to make."""
HELD_ENCODED_BYTES: Final = 64 * 1024 * 1024
"""Longer documents, before the coding, are streamed: this one is 4 MB of gzip, made in about a second."""

_AT_ONCE_BYTES: Final = 512 * 1024
_ENCODED_AT_ONCE_BYTES: Final = 128 * 1024


class PageStore:
    """The bodies of one seed. To be used from one event loop."""

    def __init__(self, seed: int, *, wikis: Wikis | None = None, cache_bytes: int = CACHE_BYTES) -> None:
        """`wikis` tell which links of given wikitext are red; without them none is."""
        self._seed = seed
        self._wikis = wikis
        self._plain: ByteLru[Held] = ByteLru(cache_bytes)
        self._encoded: ByteLru[Held] = ByteLru(cache_bytes)
        self._work = SharedWork()

    async def plain(self, located: Located, shape: Shape | None = None, *, flavor: Flavor = "view") -> Body:
        """The document, not encoded; its length is known."""
        document = self._asked(located, shape, flavor)
        size = document.exact_bytes
        if size is not None and size > HELD_BYTES:
            return Streamed(document.pieces, size, size)
        return await self._held(document)

    async def encoded(self, located: Located, shape: Shape | None, coding: Coding, *, flavor: Flavor = "view") -> Body:
        """The same document in a content coding; its length is known if it is held."""
        document = self._asked(located, shape, flavor)
        key = (document.key, coding)
        if (cached := self._encoded.get(key)) is not None:
            return cached
        size, source = document.exact_bytes, document.pieces
        if size is None:
            plain = await self._held(document)
            size, source = plain.decoded_bytes, plain.pieces
        if size > HELD_ENCODED_BYTES and not isinstance(shape, Bomb):
            return Streamed(partial(_encode, coding, source), None, size)
        wire = await self._made(key, partial(_encode, coding, source), at_once=size <= _ENCODED_AT_ONCE_BYTES)
        body = Held(wire, size)
        self._encoded.put(key, body, len(wire))
        return body

    def _asked(self, located: Located, shape: Shape | None, flavor: Flavor) -> Document:
        wiki = None if self._wikis is None else self._wikis.by_name(located.page.wiki)
        return Document(self._seed, located, shape, flavor, wiki)

    async def _held(self, document: Document) -> Held:
        body = self._plain.get(document.key)
        if body is None:
            at_once = document.work_bytes <= _AT_ONCE_BYTES
            body = Held(await self._made(document.key, document.pieces, at_once=at_once))
            self._plain.put(document.key, body, len(body.data))
        return body

    async def _made(self, key: Hashable, make: Callable[[], Iterator[bytes]], *, at_once: bool) -> bytes:
        return b"".join(make()) if at_once else await self._work.result(key, make)


def _encode(coding: Coding, source: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    return encoded(coding, source())
