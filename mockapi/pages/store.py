"""Bodies ready to send: rendered, compressed and cached, with the long work off the event loop.

    article            ── rendered at once (about a third of a millisecond for 24 KB)
    block document     ── rendered in a thread
    gzip, 256 KiB up   ── compressed in a thread

Requests that want the same long work at the same time share it. When the server ends, threads stop half-way.
"""

import asyncio
import threading
import zlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Final

from mockapi.pages.article import render_article
from mockapi.pages.block import Abandoned, Block, render_block
from mockapi.pages.cache import ByteLru
from mockapi.titles import Located

CACHE_BYTES: Final = 128 * 1024 * 1024

_GZIP_LEVEL: Final = 6  # MediaWiki's
_GZIP_FORMAT: Final = 31
_OFF_LOOP_BYTES: Final = 256 * 1024
_PIECE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Gzipped:
    """A compressed body and the length it had before."""

    wire: bytes
    real_bytes: int

    def __len__(self) -> int:
        return len(self.wire)


class PageStore:
    """The bodies of one seed. To be used from one event loop."""

    def __init__(self, seed: int, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._seed = seed
        self._plain: ByteLru[bytes] = ByteLru(cache_bytes)
        self._gzipped: ByteLru[Gzipped] = ByteLru(cache_bytes)
        self._under_way: dict[Hashable, asyncio.Task[bytes]] = {}

    async def plain(self, located: Located, block: Block | None) -> bytes:
        """The document, not encoded: the article, or the one of an exact size."""
        key = _key(located, block)
        body = self._plain.get(key)
        if body is None:
            if block is None:
                body = render_article(self._seed, located)
            else:
                body = await self._shared(("plain", key), partial(render_block, self._seed, located, block))
            self._plain.put(key, body)
        return body

    async def gzipped(self, located: Located, block: Block | None) -> Gzipped:
        """The same document as a gzip stream, which is the same in every process too."""
        key = _key(located, block)
        packed = self._gzipped.get(key)
        if packed is None:
            body = await self.plain(located, block)
            if len(body) < _OFF_LOOP_BYTES:
                wire = compress(body)
            else:
                wire = await self._shared(("gzip", key), partial(compress, body))
            packed = Gzipped(wire, len(body))
            self._gzipped.put(key, packed)
        return packed

    async def _shared(self, key: Hashable, work: Callable[[threading.Event], bytes]) -> bytes:
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(_in_thread(work))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        # A client that leaves must not take the result away from the others.
        return await asyncio.shield(task)


def compress(body: bytes, abandon: threading.Event | None = None) -> bytes:
    """`body` as gzip without a time stamp; raises Abandoned soon after `abandon` is set."""
    packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_FORMAT)
    pieces = []
    for start in range(0, len(body), _PIECE_BYTES):
        if abandon is not None and abandon.is_set():
            raise Abandoned
        pieces.append(packer.compress(body[start : start + _PIECE_BYTES]))
    pieces.append(packer.flush())
    return b"".join(pieces)


async def _in_thread(work: Callable[[threading.Event], bytes]) -> bytes:
    abandon = threading.Event()
    try:
        return await asyncio.to_thread(work, abandon)
    finally:
        abandon.set()


def _key(located: Located, block: Block | None) -> Hashable:
    return located.page.wiki, located.revision.rev_id, block
