"""The order of results, and how much is under way. Delays are driven by events: no test waits for a time to pass."""

import asyncio
import gc
import random
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.worker import engine as module
from pipeline.worker.engine import LoopThread, ResultBuffer
from tests.unit.pipeline.worker.conftest import Engine, InTime

shared_loop = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


async def at_once(message: int) -> int:
    return message


class SlowFirst:
    """Message 0 waits until it is let go."""

    def __init__(self, thread: LoopThread) -> None:
        self.processed: list[int] = []
        self._thread, self._gate = thread, asyncio.Event()

    async def process(self, message: int) -> int:
        if message == 0:
            await self._gate.wait()
        self.processed.append(message)
        return message

    def let_go(self) -> None:
        self._thread.loop.call_soon_threadsafe(self._gate.set)


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
def test_each_key_keeps_its_order_and_nothing_is_lost(engine: Engine, in_time: InTime, plan: Plan) -> None:
    upstream = Upstream(plan)
    results = engine(
        range(len(plan.keys)),
        upstream.process,
        key_of=lambda message: plan.keys[message],
        max_started=plan.max_started,
        buffer=ResultBuffer(plan.limit_bytes, lambda _result: 1),
    )
    out = in_time(lambda: list(results))
    assert sorted(out) == [message for message in range(len(plan.keys)) if message not in plan.without_result]
    for key in set(plan.keys):
        of_key = [message for message in out if plan.keys[message] == key]
        assert of_key == sorted(of_key)
    assert upstream.most_under_way <= plan.max_started


def test_others_overtake_a_slow_page_and_its_later_events_do_not(
    engine: Engine, loop_thread: LoopThread, in_time: InTime
) -> None:
    slow = SlowFirst(loop_thread)
    results = engine(range(4), slow.process, key_of=lambda message: message % 2)
    assert in_time(lambda: [next(results), next(results)]) == [1, 3]
    slow.let_go()
    assert in_time(lambda: list(results)) == [0, 2]
    assert slow.processed.index(2) < slow.processed.index(0), "only the result waits, not the work"


@pytest.mark.parametrize("max_started", [1, 3, 8])
def test_no_more_is_read_than_may_be_under_way(
    engine: Engine, loop_thread: LoopThread, in_time: InTime, max_started: int
) -> None:
    gate, read, started = asyncio.Event(), [], threading.Semaphore(0)

    def source() -> Iterator[int]:
        for message in range(20):
            read.append(message)
            yield message

    async def process(message: int) -> int:
        started.release()
        await gate.wait()
        return message

    def open_when_all_that_may_have_started() -> None:
        for _ in range(max_started):
            assert started.acquire(timeout=20)
        assert not started.acquire(blocking=False)
        assert len(read) == max_started
        loop_thread.loop.call_soon_threadsafe(gate.set)

    watcher = threading.Thread(target=open_when_all_that_may_have_started)
    watcher.start()
    assert sorted(in_time(lambda: list(engine(source(), process, max_started=max_started)))) == list(range(20))
    watcher.join(20)


def test_many_messages_without_a_result_are_finished_too(engine: Engine, in_time: InTime) -> None:
    async def process(_message: int) -> None:
        return None

    assert in_time(lambda: list(engine(range(500), process, key_of=lambda m: m % 3, max_started=2))) == []


def test_a_slow_page_keeps_its_order_when_many_others_have_passed(
    engine: Engine, loop_thread: LoopThread, in_time: InTime
) -> None:
    """The last is of the first one's page."""
    slow, others = SlowFirst(loop_thread), 50
    results = engine(range(others + 2), slow.process, key_of=lambda message: message % (others + 1))
    assert sorted(in_time(lambda: [next(results) for _ in range(others)])) == list(range(1, others + 1))
    slow.let_go()
    assert in_time(lambda: list(results)) == [0, others + 1]


def test_what_is_known_of_a_page_is_forgotten_when_its_events_have_left(engine: Engine, in_time: InTime) -> None:
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

    assert len(in_time(lambda: list(engine(range(3000), at_once, key_of=page_of)))) == 3000
    gc.collect()
    assert most <= 4 * 4


@pytest.mark.parametrize("max_started", [1, 2, 4, 15, 64])
def test_few_under_way_need_no_clock(
    engine: Engine, in_time: InTime, monkeypatch: pytest.MonkeyPatch, max_started: int
) -> None:
    """Nobody waits for more to be finished than there are."""
    monkeypatch.setattr(module, "_WAKE_AFTER_S", 10_000)
    results = engine(range(300), at_once, max_started=max_started)
    assert sorted(in_time(lambda: list(results))) == list(range(300))


def test_what_a_message_comes_to_may_depend_on_those_before_it(engine: Engine, in_time: InTime) -> None:
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

    assert in_time(lambda: list(engine(range(2), process, settle, key_of=lambda _m: 0))) == [1, 2]
    assert settled == [0, 1]


def test_without_running_ahead_a_page_has_one_message_under_way(engine: Engine, in_time: InTime) -> None:
    under_way: set[int] = set()

    async def process(message: int) -> int:
        assert message % 2 not in under_way
        under_way.add(message % 2)
        await asyncio.sleep(0)
        under_way.remove(message % 2)
        return message

    results = engine(range(40), process, key_of=lambda m: m % 2, max_started=8, ahead=False)
    assert sorted(in_time(lambda: list(results))) == list(range(40))


def test_what_is_finished_is_handed_on_while_another_is_slow(loop_thread: LoopThread, in_time: InTime) -> None:
    """And when nothing more comes for a moment that is said, once: whoever gathers results may let them go."""
    slow = SlowFirst(loop_thread)
    groups = module.run(
        range(40),
        slow.process,
        lambda _message, outcome: outcome,
        thread=loop_thread,
        key_of=lambda message: message,
        max_started=50,
        buffer=ResultBuffer[int](1_000_000, lambda _result: 1),
    )

    def until_quiet() -> list[int]:
        found: list[int] = []
        while group := next(groups):
            found += group
        return found

    assert sorted(in_time(until_quiet)) == list(range(1, 40))
    slow.let_go()
    assert in_time(lambda: [one for group in groups for one in group]) == [0]


@shared_loop
@given(keys=st.lists(st.integers(0, 2), max_size=12), rng=st.randoms(use_true_random=False))
def test_what_waits_for_its_turn_happens_between_those_of_its_key(
    engine: Engine, in_time: InTime, keys: list[int], rng: random.Random
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

    results = engine(
        range(len(keys)), process, settle, key_of=lambda message: keys[message], max_started=5, in_turn=in_turn
    )
    assert sorted(in_time(lambda: list(results))) == list(range(len(keys)))
    for key in set(keys):
        of_key = [(what, message) for what, message in happened if keys[message] == key]
        in_order = [message for message, one in enumerate(keys) if one == key]
        assert of_key == [(what, message) for message in in_order for what in ("begins", "ends", "settled")]
