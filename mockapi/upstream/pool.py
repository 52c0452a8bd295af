"""The parses of one capacity: a number at once, the others in a queue.

    begin ──> queue (first in, first out) ──> slot for its time ──> over

A parse belongs to its pool, not to the request: `abandon` says that its client is gone, and it goes on. It is
a timer and a place in a queue and no task, so thousands cost nothing while they wait, and none outlives its pool.

A slot counts as free from when its parse was due, not from when a busy machine got to hear of it: else each parse would
take a few milliseconds more than it says, and the capacity would be smaller than it says.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from mockapi.clock import Later, Timer
from mockapi.faults.capacity import Capacity
from mockapi.upstream.load import Load


class QueueFull(Exception):  # noqa: N818 - an answer to the client, no error of the mock
    """The queue takes no more; the client is to get `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the queue is full, which is answered with {code}")
        self.code: Final = code


class Parse:
    """A parse that is queued, under way or over."""

    def __init__(self, seconds: float, since_s: float, pool: "Pool", finished: Callable[[], None] | None) -> None:
        """`since_s` is when it came in, by the pool's clock; `finished` is called when it is through."""
        self.seconds: Final = seconds
        self.since_s: Final = since_s
        self.finished: Final = finished
        self.awaited = True
        self.over: Final = asyncio.Event()
        self._pool = pool

    def abandon(self) -> None:
        """Its client is gone. Once it is over this changes nothing."""
        if self.awaited and not self.over.is_set():
            self.awaited = False
            self._pool.abandoned(self)


class Pool:
    """`capacity` None is no bound: every parse begins at once."""

    def __init__(self, capacity: Capacity | None, load: Load, monotonic: Callable[[], float], later: Later) -> None:
        self._capacity = capacity
        self.load: Final = load
        self._monotonic = monotonic
        self._later = later
        self._queue: deque[Parse] = deque()
        self._running: dict[Parse, Timer] = {}
        self._retired = False

    @property
    def idle(self) -> bool:
        """Whether no parse is under way or queued."""
        return not self._running and not self._queue

    def begin(self, seconds: float, finished: Callable[[], None] | None = None) -> Parse:
        """Takes a slot for `seconds`, or a place in the queue. Raises QueueFull."""
        now_s = self._monotonic()
        parse = Parse(seconds, now_s, self, finished)
        if self._has_room():
            self._start(parse, now_s)
        elif self._capacity and self._capacity.queue is not None and len(self._queue) >= self._capacity.queue:
            raise QueueFull(self._capacity.overflow)
        else:
            self._queue.append(parse)
            self.load.queued()
        return parse

    def resize(self, capacity: Capacity | None) -> None:
        """Another bound from now on. What is under way goes on, what is queued stays so even in a shorter queue."""
        self._capacity = capacity
        self._start_queued(self._monotonic())

    def abandoned(self, parse: Parse) -> None:
        """The client of `parse` is gone; for the living the parser goes on with it, a retired pool lets it go."""
        if not self._retired:
            return
        timer = self._running.pop(parse, None)
        if timer is None:
            self._queue.remove(parse)
            self.load.dequeued()
        else:
            timer.cancel()
            self.load.stopped()
            self._start_queued(self._monotonic())

    def retire(self) -> None:
        """Goes on only with what a client waits for, and for as long."""
        self._retired = True
        for parse in [*self._queue, *self._running]:
            if not parse.awaited:
                self.abandoned(parse)

    def _has_room(self) -> bool:
        return self._capacity is None or len(self._running) < self._capacity.parses

    def _start_queued(self, free_s: float) -> None:
        """Fills the slots, which are free since `free_s`."""
        while self._queue and self._has_room():
            self.load.dequeued()
            parse = self._queue.popleft()
            self._start(parse, max(free_s, parse.since_s))

    def _start(self, parse: Parse, at_s: float) -> None:
        self.load.began()
        due_s = at_s + parse.seconds
        self._running[parse] = self._later(max(0.0, due_s - self._monotonic()), partial(self._end, parse, due_s))

    def _end(self, parse: Parse, due_s: float) -> None:
        del self._running[parse]
        self.load.ended(parse.seconds, awaited=parse.awaited)
        if parse.finished is not None:
            parse.finished()
        parse.over.set()
        self._start_queued(due_s)
