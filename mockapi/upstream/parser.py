"""The wiki's parser: a pool for each rule with a capacity, and one without a bound for the parses of no such rule.

    begin ──> queue (first in, first out) ──> slot for its time ──> over

A parse belongs to its pool, not to the request: `abandon` says that its client is gone, and it goes on. It is a timer
and no task, so thousands cost nothing while they wait.

A slot counts as free from when its parse was due, not from when a busy machine noticed. Else each parse would take a
few milliseconds more than it says.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from mockapi.clock import Later, Timer
from mockapi.faults.capacity import FAULT, Capacity
from mockapi.rules.model import Rule
from mockapi.upstream.load import Load, UpstreamCounts


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


class Parser:
    """The parser of one world; its pools follow the effective rules."""

    def __init__(self, monotonic: Callable[[], float], later: Later) -> None:
        self._monotonic = monotonic
        self._later = later
        self._load = Load()
        self._unbounded = self._pool(None)
        self._pools: dict[str, Pool] = {}

    def follow(self, rules: Sequence[Rule]) -> None:
        """Takes over the capacities of `rules`. Without its rule a pool has no bound: what queued there begins now."""
        capacities = {rule.name: given for rule in rules if (given := rule.do.of(FAULT)) is not None}
        for name, pool in self._pools.items():
            pool.resize(capacities.get(name))
        # A pool keeps what is under way while its rule is away, and counts it again when a rule of that name returns.
        kept = {name: pool for name, pool in self._pools.items() if name in capacities or not pool.idle}
        made = {name: self._pool(capacity) for name, capacity in capacities.items() if name not in kept}
        self._pools = kept | made

    def begin(self, seconds: float, rule: str | None, finished: Callable[[], None] | None = None) -> Parse:
        """A parse of `seconds` that counts towards the capacity of `rule`; `finished` is called when it is through.

        Raises QueueFull.
        """
        # A rule that was spent by this very request has no pool of its own any more.
        pool = self._unbounded if rule is None else self._pools.get(rule, self._unbounded)
        return pool.begin(seconds, finished)

    def counts(self) -> UpstreamCounts:
        """Over all pools, the one without a bound included."""
        return self._load.counts()

    def loads(self) -> dict[str, UpstreamCounts]:
        """The load of each pool by the rule of its capacity; that of the parses of no such rule under ""."""
        return {name: pool.load.counts() for name, pool in {"": self._unbounded, **self._pools}.items()}

    def forget(self) -> None:
        """Sets counts to 0; parses that are under way go on and count as busy."""
        for load in (self._load, self._unbounded.load, *(pool.load for pool in self._pools.values())):
            load.forget()

    def retire(self) -> None:
        """Ends every parse without a waiting client, now and from now on: the parser's world is gone."""
        for pool in (self._unbounded, *self._pools.values()):
            pool.retire()

    def _pool(self, capacity: Capacity | None) -> Pool:
        return Pool(capacity, Load(self._load), self._monotonic, self._later)
