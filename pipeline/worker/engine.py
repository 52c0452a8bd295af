"""Runs a job's events concurrently inside one Python worker, and hands records on in the order of each page.

The event loop has a thread of its own and outlives the micro-batch, with the job's connections. The worker's main
thread is Spark's generator: it feeds messages in and takes records out. So when the sink pushes back and the
generator is suspended, deadlines still fire on time. What is finished waits in a buffer bounded in bytes.

Messages with the same key are emitted in the order in which they came; others overtake them freely. What a message
comes to is settled when its turn has come, so that it may depend on what became of those before it.
"""

import asyncio
import atexit
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, TypeVar

import uvloop

from pipeline.metrics.catalogue import BUFFER_PEAK
from pipeline.metrics.worker_metrics import RECORDER

M = TypeVar("M")
O = TypeVar("O")  # noqa: E741 — an outcome
R = TypeVar("R")

Process = Callable[[M], Awaitable[O]]
Finish = Callable[[M, O], Awaitable[O]]
Settle = Callable[[M, O], R | None]

# The main thread is woken for this number of finished messages, this long after the first of them, or for the last:
# each time it is, the two threads fight for the interpreter. Where few are under way it is woken for a quarter of them,
# else most of them would have ended before others are begun.
_WAKE_AFTER = 16
_WAKE_AFTER_S = 0.02
_STOP_S = 5.0
# Without news for this time, the main thread has waited enough: what comes next may take its allowance.
_QUIET_S = 0.1


class LoopThread:
    """An asyncio loop in a daemon thread, for the life of the worker process."""

    def __init__(self) -> None:
        self.loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="enrichment-loop", daemon=True)
        self._thread.start()
        # A thread that is in C code while the interpreter is taken down may crash the process.
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the thread; what is under way is not waited for."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(_STOP_S)

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
        self._unnotified = 0
        self._wake_after = _WAKE_AFTER
        self._last: int | None = None
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
                    self._unnotified += 1
                    if self._unnotified == 1:
                        asyncio.get_running_loop().call_later(_WAKE_AFTER_S, self._notify)
                    if self._unnotified % self._wake_after == 0 or self._finished == self._last:
                        self._changed.notify()
                    return
                room = asyncio.Event()
                self._waiting.append(room)
                self._changed.notify()
            await room.wait()

    def fail(self, error: BaseException) -> None:
        """Have the next `take` raise: a job that raises cannot go on."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify()

    def limit_in_flight(self, limit: int) -> None:
        """The number of messages that may be under way at once."""
        self._wake_after = max(1, min(_WAKE_AFTER, limit // 4))

    def expect(self, messages: int) -> None:
        """The number of messages there will be in all, at most."""
        with self._changed:
            self._last = messages

    def take(
        self, loop: asyncio.AbstractEventLoop, *, finished_before: int, patience_s: float | None = None
    ) -> tuple[list[R], int]:
        """All results there are, and how many messages are finished by now; blocks until there is news, or for
        `patience_s`.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._results or self._error or self._finished > finished_before, patience_s)
            if self._error is not None:
                raise self._error
            results = list(self._results)
            self._results.clear()
            self._bytes = self._unnotified = 0
            waiting, self._waiting = self._waiting, deque()
            finished = self._finished
        if waiting:
            loop.call_soon_threadsafe(_wake, waiting)
        return results, finished

    def _notify(self) -> None:
        with self._changed:
            if self._unnotified:
                self._changed.notify()


def _wake(waiters: Iterable[asyncio.Event]) -> None:
    for waiter in waiters:
        waiter.set()


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
    in_turn: Finish[M, O] | None = None,
) -> Iterator[list[R]]:
    """Yield the results of all messages, as they come; at most `max_started` are under way. What `process` raises is
    raised here. An empty list says that for a moment there was nothing more: what was kept to go in a group may go now.

    `process` runs for messages of one key side by side, or with `ahead=False` one after the other; `settle` makes the
    result of its outcome, on the loop, in the order of the key. None is no result. Between the two `in_turn` may
    replace the outcome: it begins when the results of all earlier messages of the key are in the buffer, and ends
    before that of a later one begins. Each message is `around` from its beginning until its result is in the buffer;
    they are entered in the order of the messages.
    """
    tasks: set[asyncio.Task[None]] = set()
    tails: dict[Hashable, asyncio.Event] = {}
    coming: deque[Coroutine[None, None, None]] = deque()
    source = iter(messages)
    started = finished = 0
    exhausted = quiet = False
    buffer.limit_in_flight(max_started)

    async def process_message(message: M, before: asyncio.Event | None, done: asyncio.Event) -> None:
        try:
            with around():
                if before is not None and not ahead:
                    await before.wait()
                outcome = await process(message)
                if before is not None:
                    await before.wait()
                if in_turn is not None:
                    outcome = await in_turn(message, outcome)
                await buffer.put(settle(message, outcome))
            done.set()
        except asyncio.CancelledError:
            # The generator has ended and takes no more results, or it came from within `process`, which must not go
            # unnoticed.
            buffer.fail(RuntimeError("the processing of a message was cancelled"))
            raise
        except BaseException as error:  # noqa: BLE001 — whatever it is, the generator raises it, and the loop lives on
            buffer.fail(error)

    def start_tasks() -> None:
        while coming:
            task = thread.loop.create_task(coming.popleft())
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    def cancel() -> None:
        start_tasks()  # what never began would be complained of
        for task in tasks:
            task.cancel()

    try:
        while True:
            while not exhausted and started - finished < max_started:
                try:
                    message = next(source)
                except StopIteration:
                    exhausted = True
                    buffer.expect(started)
                    break
                key, done = key_of(message), asyncio.Event()
                coming.append(process_message(message, tails.get(key), done))
                tails[key] = done
                started += 1
                if len(coming) == 1:  # else it is woken already, or sees it on its way
                    thread.loop.call_soon_threadsafe(start_tasks)
            if exhausted and finished == started:
                return
            patience_s = None if quiet else _QUIET_S
            results, finished = buffer.take(thread.loop, finished_before=finished, patience_s=patience_s)
            if len(tails) > 2 * max_started:
                tails = {key: done for key, done in tails.items() if not done.is_set()}
            quiet = not results
            yield results
    finally:
        thread.loop.call_soon_threadsafe(cancel)
