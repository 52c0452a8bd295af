"""Runs a job's events concurrently inside one Python worker, and hands records on in the order of each page.

The event loop has a thread of its own and outlives the micro-batch, with the job's connections. The worker's main
thread is Spark's generator: it feeds messages in and takes records out. So when the sink pushes back and the
generator is suspended, deadlines still fire on time. What is finished waits in a buffer bounded in bytes.

Messages with the same key leave in the order in which they came; others overtake them freely. What a message comes to
is settled when its turn has come, so that it may depend on what became of those before it.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, TypeVar

from pipeline.metrics.catalogue import BUFFER_PEAK
from pipeline.metrics.in_worker import RECORDER

M = TypeVar("M")
O = TypeVar("O")  # noqa: E741 — an outcome
R = TypeVar("R")

Process = Callable[[M], Awaitable[O]]
Settle = Callable[[M, O], R | None]


class LoopThread:
    """An asyncio loop in a daemon thread, for the life of the worker process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="enrichment-loop", daemon=True).start()

    def call(self, start: Callable[[], Awaitable[R]]) -> R:
        """Run a coroutine function on the loop and wait for its result."""

        async def run() -> R:
            return await start()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result()


class ResultBuffer(Generic[R]):
    """Finished results between the loop (puts, may wait) and the main thread (takes, may block)."""

    def __init__(self, limit_bytes: int, size_of: Callable[[R], int]) -> None:
        self._limit_bytes = limit_bytes
        self._size_of = size_of
        self._results: deque[R] = deque()
        self._bytes = 0
        self._finished = 0
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._waiting: deque[asyncio.Event] = deque()

    async def put(self, result: R | None) -> None:
        """Count one message as finished; wait first while the buffer is full. None is a message without a result."""
        while True:
            with self._changed:
                if result is None or not self._results or self._bytes < self._limit_bytes:
                    if result is not None:
                        self._results.append(result)
                        self._bytes += self._size_of(result)
                        RECORDER.peak(BUFFER_PEAK, self._bytes)
                    self._finished += 1
                    self._changed.notify()
                    return
                room = asyncio.Event()
                self._waiting.append(room)
            await room.wait()

    def fail(self, error: BaseException) -> None:
        """Have the next `take` raise: a job that raises cannot go on."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify()

    def take(self, loop: asyncio.AbstractEventLoop, *, finished_before: int) -> tuple[list[R], int]:
        """All results there are, and how many messages are finished by now; blocks until there is news."""
        with self._changed:
            self._changed.wait_for(lambda: self._results or self._error or self._finished > finished_before)
            if self._error is not None:
                raise self._error
            taken = list(self._results)
            self._results.clear()
            self._bytes = 0
            waiting, self._waiting = self._waiting, deque()
            finished = self._finished
        for room in waiting:
            loop.call_soon_threadsafe(room.set)
        return taken, finished


def run(
    messages: Iterable[M],
    process: Process[M, O],
    settle: Settle[M, O, R],
    *,
    thread: LoopThread,
    key_of: Callable[[M], Hashable],
    max_started: int,
    buffer: ResultBuffer[R],
    ahead: bool = True,
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Iterator[R]:
    """Yield the results of all messages; at most `max_started` are under way. What `process` raises is raised here.

    `process` runs for messages of one key side by side, or with `ahead=False` one after the other; `settle` makes the
    result of its outcome, on the loop, in the order of the key. None is no result. Each message is `around` from its
    beginning until its result is in the buffer; they are entered in the order of the messages.
    """
    tasks: set[Future[None]] = set()
    tails: dict[Hashable, asyncio.Event] = {}
    source = iter(messages)
    started = finished = 0
    exhausted = False

    async def one(message: M, before: asyncio.Event | None, done: asyncio.Event) -> None:
        try:
            with around():
                if before is not None and not ahead:
                    await before.wait()
                outcome = await process(message)
                if before is not None:
                    await before.wait()
                await buffer.put(settle(message, outcome))
            done.set()
        except asyncio.CancelledError:
            # The generator has ended and nobody listens, or it came from within `process`, which must not go unseen.
            buffer.fail(RuntimeError("the processing of a message was cancelled"))
            raise
        except BaseException as error:  # noqa: BLE001 — whatever it is, the generator raises it, and the loop lives on
            buffer.fail(error)

    try:
        while True:
            while not exhausted and started - finished < max_started:
                try:
                    message = next(source)
                except StopIteration:
                    exhausted = True
                    break
                key, done = key_of(message), asyncio.Event()
                future = asyncio.run_coroutine_threadsafe(one(message, tails.get(key), done), thread.loop)
                tails[key] = done
                tasks.add(future)
                future.add_done_callback(tasks.discard)
                started += 1
            if exhausted and finished == started:
                return
            results, finished = buffer.take(thread.loop, finished_before=finished)
            if len(tails) > 2 * max_started:
                tails = {key: done for key, done in tails.items() if not done.is_set()}
            yield from results
    finally:
        for future in list(tasks):
            future.cancel()
