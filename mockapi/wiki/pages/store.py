"""Bodies ready to send: rendered, encoded and cached, with the long work outside the event loop.

              an article, a short text      up to some MiB                more
plain         rendered at once, held        rendered in a thread, held    streamed
encoded       encoded at once, held         encoded in a thread, held     streamed, of unknown length

A document that compresses to next to nothing is encoded and held whatever its size. What is streamed is made anew for
each request, and never there as a whole. Envelopes, the JSON about a page or around its document, are held.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import is_
from typing import Final, Generic, TypeVar

from mockapi.server.reply import Body, Held, Streamed
from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.coding import Coding, encoded
from mockapi.wiki.pages.document import Document, Shape
from mockapi.wiki.pages.fillers import Bomb
from mockapi.wiki.pages.flavor import Flavor
from mockapi.wiki.wikis import Wikis

Make = Callable[[], Iterable[bytes]]

_THREADS: Final = 4


class Abandoned(Exception):  # noqa: N818 - not an error: no request waits for the result any more
    """The work was stopped half-way."""


class SharedWork:
    """Long work in threads of its own, done once for all who want it at the same time. To be used from one event loop.

    The work is a stream of pieces; between two of them it can be abandoned, which happens when the server ends.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="pages")
        self._under_way: dict[Hashable, asyncio.Task[bytes]] = {}

    async def result(self, key: Hashable, make: Make) -> bytes:
        """All that `make` gives; who asks for the same `key` meanwhile gets the same bytes."""
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._in_thread(make))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        # A client that disconnects must not take the result away from the others.
        return await asyncio.shield(task)

    async def _in_thread(self, make: Make) -> bytes:
        abandon = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, collect, make, abandon)
        finally:
            abandon.set()


def collect(make: Make, abandon: threading.Event) -> bytes:
    """All that `make` gives; raises Abandoned soon after `abandon` is set."""
    pieces = []
    for piece in make():
        if abandon.is_set():
            raise Abandoned
        pieces.append(piece)
    return b"".join(pieces)


ENTRY_BYTES: Final = 256
"""What an entry is taken to occupy beside its bytes, so that empty ones are bounded too."""

Value = TypeVar("Value")


class ByteLru(Generic[Value]):
    """Holds the values used last, at most `capacity_bytes` together; a value larger than that is not kept at all."""

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity_bytes = capacity_bytes
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self.held_bytes = 0

    def get(self, key: Hashable) -> Value | None:
        """None for a value that was never kept or had to go; the one found counts as used last."""
        entry = self._values.get(key)
        if entry is None:
            return None
        self._values.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: Value, size_bytes: int) -> None:
        """Keeps `value`, at the expense of what was not used for longest."""
        weight = size_bytes + ENTRY_BYTES
        if weight > self._capacity_bytes:
            return
        _, replaced = self._values.pop(key, (None, 0))
        self.held_bytes += weight - replaced
        self._values[key] = (value, weight)
        while self.held_bytes > self._capacity_bytes:
            _, (_, dropped) = self._values.popitem(last=False)
            self.held_bytes -= dropped


CACHE_BYTES: Final = 128 * 1024 * 1024
ENVELOPES_BYTES: Final = 32 * 1024 * 1024
HELD_BYTES: Final = 4 * 1024 * 1024
"""Longer plain documents are streamed: 100 MB of one take a tenth of a second to make."""
HELD_ENCODED_BYTES: Final = 64 * 1024 * 1024
"""Longer documents, before the coding, are streamed: this one is 4 MB of gzip, made in about a second."""

Sources = tuple[object, ...]
"""The values that an envelope is made of; it is valid as long as each is the same object."""

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
        self._envelopes: ByteLru[tuple[Sources, Held]] = ByteLru(ENVELOPES_BYTES)
        self._work = SharedWork()

    async def plain(self, located: Located, shape: Shape | None = None, *, flavor: Flavor = "view") -> Body:
        """The document, not encoded; its length is known."""
        document = self._document(located, shape, flavor)
        size = document.exact_bytes
        if size is not None and size > HELD_BYTES:
            return Streamed(document.pieces, size, size)
        return await self._held(document)

    async def encoded(self, located: Located, shape: Shape | None, coding: Coding, *, flavor: Flavor = "view") -> Body:
        """The same document in a content coding; its length is known if it is held."""
        document = self._document(located, shape, flavor)
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

    async def envelope(
        self, key: Hashable, sources: Sources, coding: Coding | None, write: Callable[[], bytes]
    ) -> Held:
        """What `write` gives, in a content coding. It is written anew when one of `sources` is another object: an edit
        replaces the page.
        """
        kept = self._envelopes.get((key, coding))
        if kept is not None and all(map(is_, kept[0], sources)):
            return kept[1]
        data = write()
        body = Held(data)
        if coding is not None:
            work = (key, coding, *map(id, sources))
            encode = partial(_encode, coding, lambda: iter((data,)))
            body = Held(await self._made(work, encode, at_once=len(data) <= _ENCODED_AT_ONCE_BYTES), len(data))
        self._envelopes.put((key, coding), (sources, body), len(body.data))
        return body

    def _document(self, located: Located, shape: Shape | None, flavor: Flavor) -> Document:
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
