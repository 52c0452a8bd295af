import asyncio
import gzip
import threading

import pytest

from mockapi.pages.article import render_article
from mockapi.pages.block import Abandoned, Block, render_block
from mockapi.pages.store import PageStore, compress
from mockapi.titles import Located

BLOCK = Block(600_000, 65_536)


@pytest.mark.parametrize("block", [None, BLOCK])
def test_plain_and_gzipped_are_the_same_document(located: Located, block: Block | None) -> None:
    expected = render_article(3, located) if block is None else render_block(3, located, block)

    async def bodies() -> None:
        store = PageStore(3)
        packed = await store.gzipped(located, block)
        assert await store.plain(located, block) == expected
        assert (gzip.decompress(packed.wire), packed.real_bytes) == (expected, len(expected))

    asyncio.run(bodies())


def test_the_gzip_stream_carries_no_time(located: Located) -> None:
    body = render_article(1, located)
    assert compress(body) == compress(body)
    assert compress(body)[4:8] == bytes(4)


def test_requests_for_the_same_long_work_share_it(located: Located) -> None:
    async def bodies() -> set[int]:
        store = PageStore(1, cache_bytes=0)
        return {id(packed) for packed in await asyncio.gather(*(store.plain(located, BLOCK) for _ in range(8)))}

    assert len(asyncio.run(bodies())) == 1


def test_one_that_gives_up_does_not_take_the_result_from_the_others(located: Located) -> None:
    async def body() -> bytes:
        store = PageStore(1)
        first = asyncio.create_task(store.plain(located, BLOCK))
        second = asyncio.create_task(store.plain(located, BLOCK))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert len(asyncio.run(body())) == BLOCK.size_bytes


def test_compressing_can_be_abandoned() -> None:
    abandon = threading.Event()
    abandon.set()
    with pytest.raises(Abandoned):
        compress(b"x" * 100, abandon)
