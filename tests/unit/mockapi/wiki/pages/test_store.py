import asyncio
import threading
import tracemalloc
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockapi.server.reply import Body, Held, Streamed
from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.block import MAX_SIZE_BYTES, Block
from mockapi.wiki.pages.coding import CODINGS, Coding
from mockapi.wiki.pages.document import Shape
from mockapi.wiki.pages.fillers import Bomb
from mockapi.wiki.pages.store import (
    ENTRY_BYTES,
    HELD_BYTES,
    HELD_ENCODED_BYTES,
    Abandoned,
    ByteLru,
    PageStore,
    SharedWork,
    collect,
)
from mockapi.wiki.wikis import Wikis
from tests.unit.mockapi.conftest import make_page, revision_of
from tests.unit.mockapi.wiki.pages.documents import decode, render_block

BLOCK = Block(600_000, 65_536)
BIG = Block(HELD_BYTES + 1_000_001, 65_536)
MIB = 1024 * 1024


def run(body: Coroutine[Any, Any, Body]) -> Body:
    return asyncio.run(body)


def streamed_bytes(body: Body) -> int:
    """How many there are, made within 4 MiB of memory."""
    tracemalloc.start()
    try:
        length = sum(map(len, body.pieces()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MIB
    return length


def whole(body: Body) -> bytes:
    return b"".join(body.pieces())


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("shape", [None, BLOCK, BIG, Bomb(1_000_000), Block(0, 0), Bomb(7)])
def test_plain_and_encoded_are_the_same_document(located: Located, shape: Shape | None, coding: Coding) -> None:
    async def bodies() -> tuple[Body, Body]:
        store = PageStore(3)
        return await store.plain(located, shape), await store.encoded(located, shape, coding)

    plain, packed = asyncio.run(bodies())
    assert decode(coding, whole(packed)) == whole(plain)
    assert packed.decoded_bytes == plain.decoded_bytes == plain.wire_bytes == len(whole(plain))
    assert packed.wire_bytes == len(whole(packed))


def test_the_article_and_the_block_are_as_rendered(located: Located) -> None:
    assert whole(run(PageStore(3).plain(located))) == render_article(3, located)
    assert whole(run(PageStore(3).plain(located, BLOCK))) == render_block(3, located, BLOCK)


def test_a_long_document_is_streamed_and_the_stream_is_the_whole(located: Located) -> None:
    body = run(PageStore(3).plain(located, BIG))
    assert isinstance(body, Streamed)
    assert whole(body) == whole(body) == render_block(3, located, BIG)


@settings(deadline=None, max_examples=20)
@given(
    st.one_of(st.integers(0, 64 * 1024), st.integers(0, HELD_BYTES + 10_000)),
    st.sampled_from([lambda size: Block(size, 5_000), Bomb]),
    st.integers(0, 4095),
)
def test_any_size_is_exact(size: int, shaped: Callable[[int], Shape], n: int) -> None:
    body = run(PageStore(1).plain(revision_of(make_page(), n), shaped(size)))
    assert body.wire_bytes == body.decoded_bytes == sum(map(len, body.pieces())) == size


@pytest.mark.parametrize("shape", [Block(256 * MIB, 65_536), Bomb(256 * MIB)])
def test_streaming_takes_no_memory(located: Located, shape: Shape) -> None:
    assert streamed_bytes(run(PageStore(1).plain(located, shape))) == 256 * MIB


def test_a_long_encoded_document_is_streamed_without_its_length(located: Located) -> None:
    size = HELD_ENCODED_BYTES + 1
    body = run(PageStore(1).encoded(located, Block(size, 65_536), "zstd"))
    assert (body.held, body.wire_bytes, body.decoded_bytes) == (False, None, size)
    assert streamed_bytes(body) < size / 8


def test_the_largest_sizes_are_there_at_once(located: Located) -> None:
    for shape in (Block(MAX_SIZE_BYTES, 65_536), Bomb(MAX_SIZE_BYTES)):
        body = run(PageStore(1).plain(located, shape))
        assert (body.wire_bytes, len(next(body.pieces()))) == (MAX_SIZE_BYTES, 256 * 1024)


def test_a_bomb_is_held_and_its_length_known(located: Located) -> None:
    body = run(PageStore(1).encoded(located, Bomb(2 * HELD_ENCODED_BYTES), "zstd"))
    assert body.held
    assert body.decoded_bytes == 2 * HELD_ENCODED_BYTES
    assert body.wire_bytes == len(whole(body)) < 10_000


def test_the_loop_goes_on_while_a_bomb_is_packed(located: Located) -> None:
    async def turns() -> int:
        task = asyncio.create_task(PageStore(1).encoded(located, Bomb(16 * MIB), "gzip"))
        taken = 0
        while not task.done():
            await asyncio.sleep(0)
            taken += 1
        return taken

    assert asyncio.run(turns()) > 20


@pytest.mark.parametrize("shape", [None, BLOCK])
def test_what_was_made_is_kept(located: Located, shape: Shape | None) -> None:
    async def bodies() -> None:
        store = PageStore(1)
        assert await store.plain(located, shape) is await store.plain(located, shape)
        assert await store.encoded(located, shape, "br") is await store.encoded(located, shape, "br")

    asyncio.run(bodies())


def test_a_moved_page_is_rendered_under_its_new_title() -> None:
    store = PageStore(1)
    for title in ("Old harbour", "New harbour"):
        body = run(store.plain(revision_of(make_page(title=title), 1)))
        assert f"<title>{title}</title>".encode() in whole(body)


def test_requests_for_the_same_long_work_share_it(located: Located) -> None:
    async def bodies() -> list[Body]:
        store = PageStore(1, cache_bytes=0)
        return await asyncio.gather(*(store.plain(located, Block(2 * MIB, 65_536)) for _ in range(8)))

    assert len({id(body.data) for body in asyncio.run(bodies()) if isinstance(body, Held)}) == 1


def test_an_edit_elsewhere_turns_a_red_link_blue() -> None:
    links = revised(make_page(1, title="Links"), "[[Quay]]")
    wikis = Wikis([links])
    store = PageStore(1, wikis=wikis)

    def now() -> bytes:
        return whole(run(store.plain(Located(links, links.revisions[0]))))

    assert b"redlink=1" in now()
    wiki = wikis.by_name("enwiki")
    assert wiki is not None
    wiki.put(make_page(2, title="Quay"))
    assert b"redlink=1" not in now()


@pytest.mark.parametrize("coding", CODINGS)
def test_a_long_given_text_is_rendered_too(coding: Coding) -> None:
    page = revised(make_page(), "Stones of the quay. " * 10_000)

    async def bodies() -> tuple[Body, Body]:
        store, located = PageStore(1), Located(page, page.revisions[0])
        return await store.plain(located), await store.encoded(located, None, coding)

    plain, packed = asyncio.run(bodies())
    assert whole(plain).count(b"Stones of the quay.") == 10_000
    assert decode(coding, whole(packed)) == whole(plain)


def revised(page: CatalogPage, text: str) -> CatalogPage:
    """`page` with `text` in its first revision."""
    first = page.revisions[0].model_copy(update={"text": text})
    return page.model_copy(update={"revisions": (first, *page.revisions[1:])})


@pytest.mark.parametrize("coding", [None, *CODINGS])
def test_an_envelope_is_written_once_for_the_same_sources(coding: Coding | None) -> None:
    store, page, document = PageStore(1), object(), object()
    texts = iter((b"first", b"second", b"third", b"other key"))

    async def envelope(*sources: object, key: str = "bare") -> bytes:
        body = await store.envelope(key, sources, coding, lambda: next(texts))
        wire = whole(body)
        return wire if coding is None else decode(coding, wire)

    async def envelopes() -> list[bytes]:
        return [
            await envelope(page, document),
            await envelope(page, document),
            await envelope(object(), document),
            await envelope(page, document),
            await envelope(page, document, key="source"),
        ]

    assert asyncio.run(envelopes()) == [b"first", b"first", b"second", b"third", b"other key"]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 60)), max_size=60))
def test_it_never_holds_more_than_it_may(puts: list[tuple[int, int]]) -> None:
    capacity = 100 + 3 * ENTRY_BYTES
    cache: ByteLru[bytes] = ByteLru(capacity)
    latest: dict[int, bytes] = {}
    for key, size in puts:
        latest[key] = bytes([key]) * size
        cache.put(key, latest[key], size)
        kept = {name: value for name in latest if (value := cache.get(name)) is not None}
        assert cache.held_bytes == sum(len(value) + ENTRY_BYTES for value in kept.values()) <= capacity
        assert all(latest[name] == value for name, value in kept.items())
        assert key in kept


def test_it_forgets_what_was_not_used_for_longest() -> None:
    cache: ByteLru[str] = ByteLru(2 * ENTRY_BYTES + 2)
    cache.put("a", "A", 1)
    cache.put("b", "B", 1)
    cache.get("a")
    cache.put("c", "C", 1)
    assert cache.get("b") is None
    assert cache.get("a") == "A"


def test_what_is_larger_than_the_cache_is_not_kept() -> None:
    cache: ByteLru[str] = ByteLru(ENTRY_BYTES + 10)
    cache.put("a", "A", 1)
    cache.put("b", "B", 11)
    assert (cache.get("a"), cache.get("b"), cache.held_bytes) == ("A", None, ENTRY_BYTES + 1)


def test_work_is_done_in_another_thread() -> None:
    async def threads() -> tuple[bytes, bytes]:
        def make() -> Iterator[bytes]:
            yield threading.current_thread().name.encode()

        return await SharedWork().result("a", make), threading.current_thread().name.encode()

    there, here = asyncio.run(threads())
    assert there != here


def test_those_who_want_the_same_share_it() -> None:
    calls: list[str] = []

    def make() -> Iterator[bytes]:
        calls.append("made")
        yield b"abc"
        yield b"def"

    async def results() -> list[bytes]:
        work = SharedWork()
        return await asyncio.gather(*(work.result("a", make) for _ in range(8)), work.result("b", make))

    assert asyncio.run(results()) == [b"abcdef"] * 9
    assert len(calls) == 2


def test_a_failure_reaches_all_and_is_not_remembered() -> None:
    def fail() -> Iterator[bytes]:
        yield b"a"
        raise ValueError

    async def results() -> bytes:
        work = SharedWork()
        failed = await asyncio.gather(*(work.result("a", fail) for _ in range(2)), return_exceptions=True)
        assert [type(error) for error in failed] == [ValueError, ValueError]
        return await work.result("a", lambda: [b"well"])

    assert asyncio.run(results()) == b"well"


def test_one_that_gives_up_does_not_take_the_result_from_the_others() -> None:
    go_on = threading.Event()

    def make() -> Iterator[bytes]:
        go_on.wait(timeout=30)
        yield b"done"

    async def result() -> bytes:
        work = SharedWork()
        first = asyncio.create_task(work.result("a", make))
        second = asyncio.create_task(work.result("a", make))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        go_on.set()
        return await second

    assert asyncio.run(result()) == b"done"


def test_work_ends_half_way_when_the_loop_does() -> None:
    begun, ended = threading.Event(), threading.Event()

    def make() -> Iterator[bytes]:
        begun.set()
        try:
            while True:
                yield b""
        finally:
            ended.set()

    async def leave() -> None:
        task = asyncio.create_task(SharedWork().result("a", make))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()

    asyncio.run(leave())
    assert ended.wait(timeout=30)


def test_it_can_be_abandoned() -> None:
    abandon = threading.Event()
    abandon.set()
    with pytest.raises(Abandoned):
        collect(lambda: [b"x"], abandon)
