"""How a run ends, and what the engine holds until then. None of it may hang."""

import asyncio
import re
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.worker.engine import LoopThread, ResultBuffer
from tests.unit.pipeline.worker.conftest import Engine, InTime


class _Watched:
    """Messages that wait for ever, and whether they were cancelled."""

    def __init__(self) -> None:
        self.waiting = threading.Semaphore(0)
        self.cancelled = threading.Semaphore(0)

    async def wait(self) -> None:
        self.waiting.release()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.release()
            raise


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyboardInterrupt, SystemExit])
def test_what_a_message_raises_ends_the_run_and_not_the_loop(
    engine: Engine, in_time: InTime, loop_thread: LoopThread, kind: type[BaseException]
) -> None:
    watched = _Watched()

    async def process(message: int) -> int:
        if message == 1:
            raise kind("it broke")
        await watched.wait()
        return message

    with pytest.raises(kind, match="it broke"):
        in_time(lambda: list(engine(range(3), process)))
    for _ in range(2):
        assert watched.cancelled.acquire(timeout=20), "what is under way is cancelled"

    async def alive() -> str:
        return "alive"

    assert in_time(lambda: loop_thread.call(alive)) == "alive"


@pytest.mark.parametrize(
    ("failing", "error", "raised", "pages"),
    [
        pytest.param(1, asyncio.CancelledError(), "RuntimeError.*was cancelled", 3, id="a cancellation from within"),
        pytest.param(0, ValueError("it broke"), "ValueError.*it broke", 1, id="later events of its page wait for it"),
    ],
)
def test_a_failure_is_not_taken_for_a_result_that_may_still_come(
    engine: Engine, in_time: InTime, failing: int, error: BaseException, raised: str, pages: int
) -> None:
    async def process(message: int) -> int:
        if message == failing:
            raise error
        return message

    with pytest.raises((RuntimeError, ValueError)) as caught:
        in_time(lambda: list(engine(range(9), process, key_of=lambda message: message % pages)))
    assert re.search(raised, repr(caught.value))


@pytest.mark.parametrize("where", ["source", "key", "size"])
def test_what_the_callers_own_code_raises_comes_out(engine: Engine, in_time: InTime, where: str) -> None:
    watched = _Watched()

    async def process(message: int) -> int:
        if message == 0:
            await watched.wait()
        return message

    def fails(*_: int) -> int:
        raise LookupError(where)

    def source() -> Iterator[int]:
        yield 0
        assert watched.waiting.acquire(timeout=20)
        if where == "source":
            fails()
        yield 1

    def key_of(message: int) -> int:
        return fails() if where == "key" and message == 1 else message

    options = {"buffer": ResultBuffer[int](10, fails)} if where == "size" else {}
    with pytest.raises(LookupError, match=where):
        in_time(lambda: list(engine(source(), process, key_of=key_of, **options)))
    assert watched.cancelled.acquire(timeout=20)


def test_a_consumer_that_stops_asking_cancels_what_is_under_way(engine: Engine, in_time: InTime) -> None:
    watched = _Watched()

    async def process(message: int) -> int:
        if message:
            await watched.wait()
        return message

    results = engine(range(4), process)
    assert in_time(lambda: next(results)) == 0
    for _ in range(3):
        assert watched.waiting.acquire(timeout=20)
    results.close()
    for _ in range(3):
        assert watched.cancelled.acquire(timeout=20)


def test_deadlines_fire_while_the_consumer_is_suspended(
    engine: Engine, in_time: InTime, loop_thread: LoopThread
) -> None:
    """The generator stands at a `yield`, as under back-pressure; nobody runs it until the deadline has fired."""
    fired, suspended = threading.Event(), asyncio.Event()

    async def process(message: int) -> int:
        if message == 0:
            return message
        await suspended.wait()
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            fired.set()
        return message

    results = engine(range(2), process)
    assert in_time(lambda: next(results)) == 0
    loop_thread.loop.call_soon_threadsafe(suspended.set)
    assert fired.wait(20)
    assert in_time(lambda: list(results)) == [1]


def test_work_goes_on_while_the_consumer_is_suspended_until_the_buffer_is_full(engine: Engine, in_time: InTime) -> None:
    processed = threading.Semaphore(0)

    async def process(message: int) -> int:
        processed.release()
        return message

    results = engine(range(8), process, buffer=ResultBuffer(2, lambda _result: 1))
    first = in_time(lambda: next(results))
    for _ in range(4):
        assert processed.acquire(timeout=20)
    assert sorted([first, *in_time(lambda: list(results))]) == list(range(8))


def test_two_runs_may_share_a_loop(engine: Engine, in_time: InTime) -> None:
    async def process(message: int) -> int:
        await asyncio.sleep(0)
        return message

    one, other = engine(range(50), process), engine(range(50, 100), process)
    taken = in_time(lambda: [next(source) for _ in range(50) for source in (one, other)])
    assert sorted(taken) == list(range(100))
    assert in_time(lambda: [*one, *other]) == []


@pytest.mark.parametrize("ahead", [True, False])
def test_a_message_is_surrounded_from_its_beginning_until_its_result_is_in_the_buffer(
    engine: Engine, in_time: InTime, *, ahead: bool
) -> None:
    """They begin in the order of the messages, those that wait for their page's turn too."""
    seen: list[str] = []
    numbers = iter(range(10))
    others_done = asyncio.Event()

    class Buffer(ResultBuffer[int]):
        async def put(self, result: int | None) -> None:
            seen.append(f"put {result}")
            await super().put(result)

    @contextmanager
    def around() -> Iterator[None]:
        number = next(numbers)
        seen.append(f"begin {number}")
        yield
        seen.append(f"end {number}")

    async def process(message: int) -> int:
        if message == 2:
            others_done.set()
        await others_done.wait()
        return message

    buffer = Buffer(1_000_000, lambda _result: 1)
    results = engine(range(3), process, key_of=lambda message: message // 2, around=around, ahead=ahead, buffer=buffer)
    assert sorted(in_time(lambda: list(results))) == [0, 1, 2]
    assert seen[:3] == ["begin 0", "begin 1", "begin 2"]
    for message in range(3):
        assert seen.index(f"end {message}") == seen.index(f"put {message}") + 1


def test_what_surrounds_a_message_ends_when_the_run_does(
    engine: Engine, in_time: InTime, loop_thread: LoopThread
) -> None:
    watched = _Watched()
    ended = threading.Semaphore(0)

    @contextmanager
    def around() -> Iterator[None]:
        try:
            yield
        finally:
            ended.release()

    async def process(message: int) -> int:
        if message == 0:
            return message
        await watched.wait()
        return message

    results = engine(range(3), process, around=around)
    assert in_time(lambda: next(results)) == 0
    for _ in range(2):
        in_time(watched.waiting.acquire)
    results.close()
    for _ in range(3):
        in_time(ended.acquire)


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
