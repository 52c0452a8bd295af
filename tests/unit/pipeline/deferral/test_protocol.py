"""P0 to P9 hold whatever happens in whatever order: by a hypothesis machine, and by seeded random walks.

Both play `play.Play`; what the properties say stands in `world`, how it must drain in `drain`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.unit.pipeline.deferral import mutants
from tests.unit.pipeline.deferral.drain import Drain
from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.play import Odds, Play
from tests.unit.pipeline.deferral.settings import Settings
from tests.unit.pipeline.deferral.walk import walk
from tests.unit.pipeline.deferral.world import Violation

T = TypeVar("T")
MISHAPS = {"crash", "land late", "lose", "lose a worker", "command", "compact", "compact in a long stop", "start"}


class Drawing:
    """Chooses by what hypothesis draws."""

    data: st.DataObject

    def pick(self, options: Sequence[T]) -> T:
        return self.data.draw(st.sampled_from(options))


class First:
    """Chooses the first: for the drain, which nothing may depend on."""

    def pick(self, options: Sequence[T]) -> T:
        return options[0]


class Protocol(RuleBasedStateMachine):
    driver: type[Driver] = Driver

    @initialize(data=st.data(), split_brain=st.booleans(), filtered=st.booleans(), lose_worker=st.booleans())
    def begin(self, data: st.DataObject, split_brain: bool, filtered: bool, lose_worker: bool) -> None:
        self.drawing = Drawing()
        self.drawing.data = data
        odds = Odds(split_brain=split_brain, filtered=filtered, lose_worker=lose_worker)
        self.play = Play(self.drawing, driver=self.driver, odds=odds)
        self.play.start()

    @rule(data=st.data())
    def an_event(self, data: st.DataObject) -> None:
        self.drawing.data = data
        self.play.produce()

    @rule(data=st.data())
    def a_step(self, data: st.DataObject) -> None:
        self._one_of(data, lambda name: name not in MISHAPS | {"produce"})

    @rule(data=st.data(), how_many=st.integers(1, 12))
    def some_steps(self, data: st.DataObject, how_many: int) -> None:
        for _ in range(how_many):
            self._one_of(data, lambda name: name not in MISHAPS | {"produce", "time", "quiet"})

    @precondition(lambda self: any(move.name in MISHAPS for move in self.play.moves()))
    @rule(data=st.data())
    def a_mishap(self, data: st.DataObject) -> None:
        self._one_of(data, MISHAPS.__contains__)

    def _one_of(self, data: st.DataObject, wanted: Callable[[str], bool]) -> None:
        self.drawing.data = data
        if moves := [move for move in self.play.moves() if wanted(move.name)]:
            self.drawing.pick(moves).go()
            self.play.check()

    def teardown(self) -> None:
        if hasattr(self, "play"):
            self.play.chooser = First()
            Drain(self.play).run()


REFUSING = Odds(crash=0, command=0, late=4, lose=2, take=16, land=12, outcomes=("ok", "slow", "final"), refuse=1)
SET_BACK = Odds(set_back=0.3, outcomes=("ok", "slow", "slow"))
QUICK = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_any_order_of_steps_and_mishaps() -> None:
    run_state_machine_as_test(Protocol, settings=QUICK)


def test_the_machine_notices_a_broken_protocol() -> None:
    class Broken(Protocol):
        driver = mutants.FoldAfterNextPlan

    # Once is enough: what it found is not to be made small, or kept for the next time.
    once = settings(
        QUICK, max_examples=500, derandomize=True, database=None, phases=[Phase.generate], report_multiple_bugs=False
    )
    with pytest.raises(Violation):
        run_state_machine_as_test(Broken, settings=once)


@pytest.mark.parametrize("lose_worker", [0, 0.5])
@pytest.mark.parametrize("split_brain", [False, True])
def test_random_walks(split_brain: bool, lose_worker: float) -> None:
    happened: Counter[str] = Counter()
    repeated = 0
    for seed in range(300):
        play = walk(seed, split_brain=split_brain, lose_worker=lose_worker)
        happened.update(play.trace)
        repeated += sum(times > 1 for times in play.world.times.values())
    # Walks in which nothing happens would prove nothing.
    assert (
        min(
            happened[name]
            for name in ("settle", "release", "crash", "land late", "look", "compact", "compact in a long stop")
        )
        > 100
    )
    assert repeated > 50
    assert (happened["lose a worker"] > 100) == (lose_worker > 0)


def test_random_walks_past_refusals() -> None:
    happened: Counter[str] = Counter()
    for seed in range(300):
        happened.update(walk(seed, odds=REFUSING).trace)
    assert min(happened[name] for name in ("refuse", "land late", "lose", "settle", "release")) > 100


def test_random_walks_through_outages() -> None:
    happened: Counter[str] = Counter()
    for seed in range(300):
        happened.update(walk(seed, outage=2).trace)
    assert min(happened[name] for name in ("outage", "recover", "probe", "settle", "release", "crash")) > 100


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_a_small_bound_and_small_reservations(bound: int) -> None:
    tight = Settings(max_entries=bound, reservations=1, max_offsets=2, rounds=1)
    for seed in range(100):
        walk(seed, settings=tight)


def test_a_clock_that_is_set_back_by_a_day_costs_nobody_a_day() -> None:
    """The drain waits for minutes."""
    happened: Counter[str] = Counter()
    for seed in range(100):
        happened.update(walk(seed, odds=SET_BACK).trace)
    assert happened["set the clock back"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("split_brain", [False, True])
def test_many_long_walks(split_brain: bool) -> None:
    for seed in range(1_000_000, 1_020_000):
        walk(seed, steps=200, split_brain=split_brain, lose_worker=0.3 * (seed % 2))


@pytest.mark.slow
def test_any_order_of_steps_and_mishaps_for_longer() -> None:
    run_state_machine_as_test(Protocol, settings=settings(QUICK, max_examples=3000, stateful_step_count=60))
