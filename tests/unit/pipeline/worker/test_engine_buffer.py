import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.worker.engine import LoopThread, ResultBuffer
from tests.unit.pipeline.worker.conftest import InTime


def on_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """The test on a loop of its own."""
    return lambda: asyncio.run(test())


async def settle() -> None:
    """Let everything run that can run without anything else happening."""
    for _ in range(10):
        await asyncio.sleep(0)


def take(buffer: ResultBuffer[bytes], finished_before: int = 0) -> tuple[list[bytes], int]:
    return buffer.take(asyncio.get_running_loop(), finished_before=finished_before)


@on_a_loop
async def test_a_message_without_a_result_need_not_wait_for_room() -> None:
    buffer = ResultBuffer(1, len)
    await buffer.put(b"x")
    await asyncio.wait_for(buffer.put(None), 20)
    assert take(buffer) == ([b"x"], 2)


@on_a_loop
async def test_a_put_that_is_cancelled_leaves_its_place_to_the_others() -> None:
    buffer = ResultBuffer(1, len)
    await buffer.put(b"x")
    given_up, patient = asyncio.create_task(buffer.put(b"a")), asyncio.create_task(buffer.put(b"b"))
    await settle()
    given_up.cancel()
    await settle()
    take(buffer)
    await asyncio.wait_for(patient, 20)
    assert take(buffer, 1) == ([b"b"], 2)


@on_a_loop
async def test_the_first_failure_is_the_one_that_is_raised_and_raised_again() -> None:
    buffer = ResultBuffer(10, len)
    await buffer.put(b"x")
    buffer.fail(ValueError("first"))
    buffer.fail(ValueError("second"))
    for _ in range(2):
        with pytest.raises(ValueError, match="first"):
            take(buffer)


@pytest.mark.parametrize("news", ["result", "no result", "failure"])
def test_a_take_that_waits_is_woken_by(loop_thread: LoopThread, in_time: InTime, news: str) -> None:
    buffer = ResultBuffer(10, len)

    async def bring() -> None:
        if news == "failure":
            buffer.fail(ValueError("news"))
        else:
            await buffer.put(b"x" if news == "result" else None)

    def taken() -> object:
        try:
            return buffer.take(loop_thread.loop, finished_before=0)
        except ValueError as error:
            return str(error)

    asking = threading.Event()
    thread = threading.Thread(target=lambda: (asking.wait(), loop_thread.call(bring)))
    thread.start()
    asking.set()
    assert in_time(taken) == {"result": ([b"x"], 1), "no result": ([], 1), "failure": "news"}[news]
    thread.join(20)


@given(sizes=st.lists(st.integers(0, 30), max_size=30), limit=st.integers(0, 40))
@example(sizes=[10, 1], limit=10)
@example(sizes=[1000, 1000, 1000], limit=10)
@example(sizes=[1, 1, 1], limit=0)
def test_the_buffer_never_holds_more_than_its_limit_and_one_result_and_keeps_their_order(
    sizes: list[int], limit: int
) -> None:
    async def go() -> None:
        held = most = 0
        buffer = ResultBuffer[bytes](limit, len)

        async def put(result: bytes) -> None:
            nonlocal held, most
            await buffer.put(result)
            held += len(result)
            most = max(most, held)

        puts = [asyncio.create_task(put(bytes(size))) for size in sizes]
        out: list[int] = []
        finished = 0
        while finished < len(sizes):
            await settle()
            results, finished = take(buffer, finished)
            assert len(results) <= 1 or sum(map(len, results[:-1])) < limit
            held -= sum(map(len, results))
            out.extend(map(len, results))
        await asyncio.gather(*puts)
        assert out == sizes
        assert most <= limit + max(sizes, default=0)

    asyncio.run(go())
