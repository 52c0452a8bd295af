import asyncio
import threading
from collections.abc import Iterator

import pytest

from mockapi.wiki.pages.store import Abandoned, SharedWork, collect


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
