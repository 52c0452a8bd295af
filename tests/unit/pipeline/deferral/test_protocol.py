"""P0 to P9 hold whatever happens in whatever order: by a hypothesis machine, and by seeded random walks.

Both play `play.Play`; what the properties say stands in `world`, how it must drain in `drain`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

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


OFTEN = ("settle", "release", "crash", "land late", "look", "compact", "compact in a long stop")
PAST_REFUSALS = ("refuse", "land late", "lose", "settle", "release")
THROUGH_OUTAGES = ("outage", "recover", "probe", "settle", "release", "crash")
LOSSES = {"lose_worker": 0.5}


def tight(bound: int) -> dict[str, Any]:
    return {"settings": Settings(max_entries=bound, reservations=1, max_offsets=2, rounds=1)}


@pytest.mark.parametrize(
    ("walks", "options", "often", "repeated"),
    [
        pytest.param(120, {}, OFTEN, 20, id="one driver"),
        pytest.param(120, {"split_brain": True}, OFTEN, 20, id="two drivers"),
        pytest.param(120, LOSSES, (*OFTEN, "lose a worker"), 20, id="lost workers"),
        pytest.param(120, LOSSES | {"split_brain": True}, (*OFTEN, "lose a worker"), 20, id="both"),
        pytest.param(120, {"odds": REFUSING}, PAST_REFUSALS, 0, id="records are refused"),
        pytest.param(120, {"outage": 2}, THROUGH_OUTAGES, 0, id="wikis are down"),
        pytest.param(50, tight(0), (), 0, id="no room in the ledger"),
        pytest.param(50, tight(1), (), 0, id="room for one"),
        pytest.param(50, tight(2), (), 0, id="room for two"),
        # The drain waits for minutes.
        pytest.param(50, {"odds": SET_BACK}, ("set the clock back",), 0, id="a clock set back by a day costs no day"),
    ],
)
def test_random_walks(walks: int, options: dict[str, Any], often: Sequence[str], repeated: int) -> None:
    """Walks in which nothing happens would prove nothing."""
    happened: Counter[str] = Counter()
    comes_again = 0
    for seed in range(walks):
        play = walk(seed, **options)
        happened.update(play.trace)
        comes_again += sum(times > 1 for times in play.world.times.values())
    assert {name: happened[name] for name in often if happened[name] <= 40} == {}
    assert comes_again >= repeated
    assert (happened["lose a worker"] > 0) == ("lose_worker" in options)


@pytest.mark.slow
@pytest.mark.parametrize("split_brain", [False, True])
def test_many_long_walks(split_brain: bool) -> None:
    for seed in range(1_000_000, 1_020_000):
        walk(seed, steps=200, split_brain=split_brain, lose_worker=0.3 * (seed % 2))


@pytest.mark.slow
def test_any_order_of_steps_and_mishaps_for_longer() -> None:
    run_state_machine_as_test(Protocol, settings=settings(QUICK, max_examples=3000, stateful_step_count=60))
