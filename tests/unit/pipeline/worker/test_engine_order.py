"""The order of results, and how much is under way. Delays are driven by events: no test waits for a time to pass."""

import asyncio
import gc
import random
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.worker import engine
from pipeline.worker.engine import LoopThread, ResultBuffer
from tests.unit.pipeline.one_by_one import run

InTime = Callable[[Callable[[], list[int]]], list[int]]
shared_loop = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def as_it_is(_message: Any, outcome: Any) -> Any:
    return outcome


def plain_buffer() -> ResultBuffer[int]:
    return ResultBuffer(1_000_000, lambda _result: 1)


@dataclass
class Plan:
    """Which messages there are, and which of those that wait is let go first."""

    keys: list[int]
    urgency: list[int]
    max_started: int
    without_result: set[int]
    limit_bytes: int


@dataclass
class Upstream:
    """Answers the most urgent request of all that wait, when no more can come before an answer is given."""

    plan: Plan
    waiting: dict[int, asyncio.Event] = field(default_factory=dict)
    arrived: int = 0
    answered: list[int] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    async def process(self, message: int) -> int | None:
        self.arrived += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        self.waiting[message] = asyncio.Event()
        self._answer_when_nothing_else_can_happen()
        await self.waiting[message].wait()
        del self.waiting[message]
        self.under_way -= 1
        self._answer_when_nothing_else_can_happen()
        return None if message in self.plan.without_result else message

    def _answer_when_nothing_else_can_happen(self) -> None:
        open_ = [message for message, event in self.waiting.items() if not event.is_set()]
        held_back = [
            message
            for message in self.answered
            if any(self.plan.keys[earlier] == self.plan.keys[message] for earlier in open_ if earlier < message)
        ]
        full = len(open_) + len(held_back) >= self.plan.max_started
        if open_ and (full or self.arrived == len(self.plan.keys)):
            chosen = min(open_, key=lambda message: (self.plan.urgency[message], message))
            self.answered.append(chosen)
            self.waiting[chosen].set()


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    keys = draw(st.lists(st.integers(0, draw(st.sampled_from([1, 4, 12]))), max_size=40))
    return Plan(
        keys,
        draw(st.lists(st.integers(0, 9), min_size=len(keys), max_size=len(keys))),
        draw(st.integers(1, 8)),
        draw(st.sets(st.integers(0, 39), max_size=9)),
        draw(st.integers(1, 6)),
    )


@shared_loop
@given(plans())
def test_each_key_keeps_its_order_and_nothing_is_lost(loop_thread: LoopThread, in_time: InTime, plan: Plan) -> None:
    upstream = Upstream(plan)

    def results() -> list[int]:
        return list(
            run(
                range(len(plan.keys)),
                upstream.process,
                as_it_is,
                thread=loop_thread,
                key_of=lambda message: plan.keys[message],
                max_started=plan.max_started,
                buffer=ResultBuffer(plan.limit_bytes, lambda _result: 1),
            )
        )

    out = in_time(results)
    assert sorted(out) == [message for message in range(len(plan.keys)) if message not in plan.without_result]
    for key in set(plan.keys):
        of_key = [message for message in out if plan.keys[message] == key]
        assert of_key == sorted(of_key)
    assert upstream.most_under_way <= plan.max_started


def test_others_overtake_a_slow_page_and_its_later_events_do_not(loop_thread: LoopThread, in_time: InTime) -> None:
    slow, processed = asyncio.Event(), []

    async def process(message: str) -> str:
        if message == "a1":
            await slow.wait()
        processed.append(message)
        return message

    results = run(
        ["a1", "b1", "a2", "b2"],
        process,
        as_it_is,
        thread=loop_thread,
        key_of=lambda message: message[0],
        max_started=4,
        buffer=ResultBuffer(1_000_000, len),
    )
    first = in_time(lambda: [next(results), next(results)])
    assert first == ["b1", "b2"]
    loop_thread.loop.call_soon_threadsafe(slow.set)
    assert in_time(lambda: list(results)) == ["a1", "a2"]
    assert processed.index("a2") < processed.index("a1"), "only the result waits, not the work"


@pytest.mark.parametrize("max_started", [1, 3, 8])
def test_no_more_is_read_than_may_be_under_way(loop_thread: LoopThread, in_time: InTime, max_started: int) -> None:
    gate, read, started = asyncio.Event(), [], threading.Semaphore(0)

    def source() -> Iterator[int]:
        for message in range(20):
            read.append(message)
            yield message

    async def process(message: int) -> int:
        started.release()
        await gate.wait()
        return message

    results = run(
        source(),
        process,
        as_it_is,
        thread=loop_thread,
        key_of=lambda m: m,
        max_started=max_started,
        buffer=plain_buffer(),
    )

    def open_when_all_that_may_have_started() -> None:
        for _ in range(max_started):
            assert started.acquire(timeout=20)
        assert not started.acquire(blocking=False)
        assert len(read) == max_started
        loop_thread.loop.call_soon_threadsafe(gate.set)

    watcher = threading.Thread(target=open_when_all_that_may_have_started)
    watcher.start()
    assert sorted(in_time(lambda: list(results))) == list(range(20))
    watcher.join(20)


@pytest.mark.parametrize("messages", [0, 1, 500])
def test_messages_without_a_result_are_finished_too(loop_thread: LoopThread, in_time: InTime, messages: int) -> None:
    async def process(_message: int) -> int | None:
        return None

    results = run(
        range(messages),
        process,
        as_it_is,
        thread=loop_thread,
        key_of=lambda m: m % 3,
        max_started=2,
        buffer=plain_buffer(),
    )
    assert in_time(lambda: list(results)) == []


def test_a_slow_page_keeps_its_order_when_many_others_have_passed(loop_thread: LoopThread, in_time: InTime) -> None:
    slow, others = asyncio.Event(), 50

    async def process(message: int) -> int:
        if message == 0:
            await slow.wait()
        return message

    results = run(
        range(others + 2),
        process,
        as_it_is,
        thread=loop_thread,
        key_of=lambda message: message % (others + 1),  # the last is of the first one's page
        max_started=4,
        buffer=plain_buffer(),
    )
    assert sorted(in_time(lambda: [next(results) for _ in range(others)])) == list(range(1, others + 1))
    loop_thread.loop.call_soon_threadsafe(slow.set)
    assert in_time(lambda: list(results)) == [0, others + 1]


def test_what_is_known_of_a_page_is_forgotten_when_its_events_have_left(
    loop_thread: LoopThread, in_time: InTime
) -> None:
    """A batch may hold any number of pages; the memory for their order follows what is under way."""

    class Page:
        pass

    alive: weakref.WeakSet[Page] = weakref.WeakSet()
    most = 0

    def page_of(_message: int) -> Page:
        nonlocal most
        page = Page()
        alive.add(page)
        most = max(most, len(alive))
        return page

    async def process(message: int) -> int:
        return message

    results = run(
        range(3000), process, as_it_is, thread=loop_thread, key_of=page_of, max_started=4, buffer=plain_buffer()
    )
    assert len(in_time(lambda: list(results))) == 3000
    gc.collect()
    assert most <= 4 * 4


@pytest.mark.parametrize("max_started", [1, 2, 4, 15, 64])
def test_few_under_way_need_no_clock(
    loop_thread: LoopThread, in_time: InTime, monkeypatch: pytest.MonkeyPatch, max_started: int
) -> None:
    """Nobody waits for more to be finished than there are."""
    monkeypatch.setattr(engine, "_WAKE_AFTER_S", 10_000)

    async def process(message: int) -> int:
        return message

    results = run(
        range(300),
        process,
        as_it_is,
        thread=loop_thread,
        key_of=lambda message: message,
        max_started=max_started,
        buffer=plain_buffer(),
    )
    assert sorted(in_time(lambda: list(results))) == list(range(300))


def test_what_a_message_comes_to_may_depend_on_those_before_it(loop_thread: LoopThread, in_time: InTime) -> None:
    """The second of a page is done first, and is settled after the first all the same."""
    second_done = asyncio.Event()
    settled: list[int] = []

    async def process(message: int) -> int:
        if message == 0:
            await second_done.wait()
        else:
            second_done.set()
        return message

    def settle(message: int, _outcome: int) -> int:
        settled.append(message)
        return len(settled)

    results = run(
        range(2), process, settle, thread=loop_thread, key_of=lambda _m: 0, max_started=2, buffer=plain_buffer()
    )
    assert in_time(lambda: list(results)) == [1, 2]
    assert settled == [0, 1]


def test_without_running_ahead_a_page_has_one_message_under_way(loop_thread: LoopThread, in_time: InTime) -> None:
    under_way: set[int] = set()

    async def process(message: int) -> int:
        assert message % 2 not in under_way
        under_way.add(message % 2)
        await asyncio.sleep(0)
        under_way.remove(message % 2)
        return message

    results = run(
        range(40),
        process,
        as_it_is,
        thread=loop_thread,
        key_of=lambda m: m % 2,
        max_started=8,
        buffer=plain_buffer(),
        ahead=False,
    )
    assert sorted(in_time(lambda: list(results))) == list(range(40))


def test_what_is_finished_is_handed_on_while_another_is_slow(loop_thread: LoopThread, in_time: InTime) -> None:
    """And when nothing more comes for a moment that is said, once: whoever gathers results may let them go."""
    slow = asyncio.Event()

    async def process(message: int) -> int:
        if message == 0:
            await slow.wait()
        return message

    groups = engine.run(
        range(40),
        process,
        as_it_is,
        thread=loop_thread,
        key_of=lambda message: message,
        max_started=50,
        buffer=plain_buffer(),
    )

    def until_quiet() -> list[int]:
        found: list[int] = []
        while group := next(groups):
            found += group
        return found

    assert sorted(in_time(until_quiet)) == list(range(1, 40))
    loop_thread.loop.call_soon_threadsafe(slow.set)
    assert in_time(lambda: [one for group in groups for one in group]) == [0]


@shared_loop
@given(keys=st.lists(st.integers(0, 2), max_size=12), rng=st.randoms(use_true_random=False))
def test_what_waits_for_its_turn_happens_between_those_of_its_key(
    loop_thread: LoopThread, in_time: InTime, keys: list[int], rng: random.Random
) -> None:
    """However `process` ends: no turn begins before the one of the same key before it is settled."""
    happened: list[tuple[str, int]] = []

    async def process(message: int) -> int:
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        return message

    async def in_turn(message: int, outcome: int) -> int:
        assert outcome == message
        happened.append(("begins", message))
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        happened.append(("ends", message))
        return -message

    def settle(message: int, outcome: int) -> int:
        assert outcome == -message
        happened.append(("settled", message))
        return message

    results = run(
        range(len(keys)),
        process,
        settle,
        thread=loop_thread,
        key_of=lambda message: keys[message],
        max_started=5,
        buffer=plain_buffer(),
        in_turn=in_turn,
    )
    assert sorted(in_time(lambda: list(results))) == list(range(len(keys)))
    for key in set(keys):
        of_key = [(what, message) for what, message in happened if keys[message] == key]
        in_order = [message for message, one in enumerate(keys) if one == key]
        assert of_key == [(what, message) for message in in_order for what in ("begins", "ends", "settled")]
