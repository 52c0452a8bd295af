"""The traces by which simpler designs put a page's events out of order, lose them or starve them, step by step.

F1 to F6 are the shortest that are known for designs that anybody would try first; those behind them are holes that
earlier wordings of this protocol had. Each test goes the same way and comes out right.
"""

from collections.abc import Sequence
from typing import TypeVar

import pytest

from pipeline.deferral.lane import Destination
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.drain import Drain
from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.play import Odds, Play
from tests.unit.pipeline.deferral.settings import Settings
from tests.unit.pipeline.deferral.world import PAGES, Outcome, Write

T = TypeVar("T")
WIDE = Settings(max_entries=1000, reservations=1000, max_offsets=1000, rounds=2, round_entries=1000)


class Script:
    """A play of one page, told step by step; an event's tries end as `outcomes` says, then well."""

    def __init__(self, settings: Settings = WIDE, **outcomes: Sequence[Outcome]) -> None:
        self.play = Play(self, settings=settings, odds=Odds(pages=1))
        self.world = self.play.world
        self._outcomes = {int(name.removeprefix("e")): list(found) for name, found in outcomes.items()}
        self.world.outcomes = self._outcome
        self.driver = self.restart()

    def pick(self, options: Sequence[T]) -> T:
        return options[0]

    def _outcome(self, position: Position) -> Outcome:
        left = self._outcomes.get(position.offset)
        return left.pop(0) if left else "ok"

    def restart(self) -> Driver:
        """The driver is gone with all it had under way, and the next one runs."""
        if self.play.drivers:
            self.play.drivers[-1].die()
            self.world.flight.clear()
        self.driver = self.play.start()
        self.land()
        self.driver.fold()
        self._go_on()
        return self.driver

    def land(self, kind: str | None = None) -> None:
        """All that is on its way arrives, or all of that kind."""
        while wanted := [write for write in self.world.landable() if kind in (None, write.kind)]:
            self.world.land(wanted[0])

    def plan(self, events: int) -> list[Write]:
        """A batch of so many new events is under way."""
        for _ in range(events):
            self.world.produce(PAGES[0])
        self.driver.begin(self)
        self.driver.plan()
        assert self.driver.batch
        return self.driver.batch.writes

    def settle(self) -> None:
        """The batch's writes are acked: step 4, and Spark commits."""
        self.land()
        self.driver.settle()
        self._go_on()
        self.driver.commit()

    def batch(self, events: int) -> None:
        """From its plan to its commit."""
        self.plan(events)
        self.settle()

    def finish(self) -> None:
        """The only slow round comes to its end."""
        (working,) = self.driver.rounds
        self.land()
        self.driver.finish(working)
        self.land()
        self.driver.release(working)
        self._go_on()

    def take(self) -> bool:
        return self.driver.can_take() and self.driver.take(pages=10)

    def look(self) -> None:
        """What others have written is read while no batch is under way."""
        self.driver.look()
        self._go_on()

    def go(self, steps: str) -> None:
        """One after the other; `take` and `no-take` say whether there is something to take."""
        for step in steps.split(", "):
            match step.split():
                case ["plan" | "batch" as name, events]:
                    getattr(self, name)(int(events))
                case ["land", *kind]:
                    self.land(*kind)
                case ["take" | "no-take" as name]:
                    assert self.take() == (name == "take"), f"{step!r} of {steps!r}"
                case ["keeps", *entries]:
                    assert self.kept() == dict(one.split(":") for one in entries), f"{step!r} of {steps!r}"
                case ["retry", offset]:
                    self.world.operator("retry", Position("source", 0, int(offset)))
                    self.look()
                case [name]:
                    getattr(self, name)()

    def out(self) -> list[int]:
        return [position.offset for position, _destination in self.world.emitted]

    def kept(self) -> dict[str, str]:
        return {str(entry.position.offset): entry.kind for entry in self.driver.ledger.listing()}

    def drained(self) -> list[int]:
        Drain(self.play).run()
        return self.out()

    def _go_on(self) -> None:
        while self.driver.locked:
            self.land()
            self.driver.go_on()


@pytest.mark.parametrize(
    ("slow", "steps", "out"),
    [
        pytest.param(
            # The stuck event is in the topic, and the one before it is not out yet.
            [1],
            "plan 2, land ledger, no-take, settle, take, finish",
            [0, 1],
            id="F1: the slow lane does not see a record of a batch that is under way",
        ),
        pytest.param(
            [0],
            "batch 1, take, plan 1, finish, settle, keeps 1:waiting, batch 1",
            [0, 1, 2],
            id="F2: a page is not free because the slow lane is done with what it took",
        ),
        pytest.param(
            # When nothing of the page is left, event 1 is on its way to the topic.
            [0],
            "batch 1, plan 1, take, finish, keeps, settle, batch 1",
            [0, 1, 2],
            id="F3: a batch that was planned while the page was blocked still counts",
        ),
        pytest.param(
            # Before the replayed batch event 0 is not out.
            [1],
            "plan 2, land ledger, restart, keeps 1:stuck, no-take, plan 0, no-take, settle, take, finish",
            [0, 1],
            id="F4: after a crash the slow lane waits for the replayed batch, whose row leaves no orphan",
        ),
        pytest.param(
            # Between two batches the main lane is not idle.
            [0],
            "batch 1, take, plan 2, finish, settle, keeps 1:waiting 2:waiting, no-take, batch 2",
            [0, 1, 2, 3, 4],
            id="F6: a hot page comes back one batch after its last stuck event",
        ),
        pytest.param(
            # The third batch reserves the waiting event 1, and 2 gets stuck behind it. Traffic goes on.
            [0, 2],
            "batch 1, take, plan 1, finish, settle, plan 1, land, restart, "
            "keeps 1:waiting 2:stuck, batch 0, take, finish",
            [0, 1, 1, 2],
            id="a stuck event behind a waiting one does not starve",
        ),
        pytest.param(
            [0],
            "batch 1, take, plan 1, finish, settle, keeps 1:waiting, retry 1, batch 1",
            [0, 1, 2],
            id="what an operator wrote before a batch is not taken for the batch's",
        ),
    ],
)
def test_a_pages_events_come_out_in_their_order(slow: list[int], steps: str, out: list[int]) -> None:
    """Each of the `slow` events fails once."""
    outcomes: dict[str, list[Outcome]] = {f"e{offset}": ["slow"] for offset in slow}
    script = Script(WIDE, **outcomes)
    script.go(steps)
    assert script.out() == out
    assert script.kept() == {}
    assert script.world.folded().entries == {}


def test_f5_an_event_is_resolved_only_when_its_output_is_acked() -> None:
    script = Script(e0=["slow"])
    script.go("batch 1, take")
    (working,) = script.driver.rounds
    assert not script.driver.can_finish(working)
    script.go("restart, keeps 0:stuck")
    assert script.drained()[0] == 0


NO_ROOM = Settings(max_entries=0, reservations=10, max_offsets=10, rounds=1)


def test_a_replayed_batch_does_not_wait_for_the_bound() -> None:
    script = Script(NO_ROOM, e0=["slow"])
    script.go("plan 1, land, restart, no-take")
    assert script.driver.ledger.over_bound
    script.driver.begin(script)
    assert script.driver.can_plan()
    script.driver.plan()
    script.settle()
    assert script.drained()[:1] == [0]


def test_the_main_lane_that_waits_for_the_bound_is_idle() -> None:
    script = Script(NO_ROOM, e0=["slow", "slow"])
    script.batch(2)
    script.world.produce(PAGES[0])
    script.driver.begin(script)
    assert not script.driver.can_plan()
    script.go("take, finish")
    assert not script.driver.can_plan()
    script.world.now_ms += 10_000
    script.go("take, finish")
    assert script.driver.can_plan()
    assert script.out() == [0, 1]


def test_an_error_event_does_not_race_with_the_next_events_output() -> None:
    """Were both on their way, a crash could keep output 1 and lose the error event of 0, which then goes well."""
    script = Script(e0=["final", "ok"])
    first = script.plan(2)
    assert [write.kind for write in first] == ["emission", "ledger"]
    script.go("land ledger, restart, batch 0")
    assert script.drained()[:2] == [0, 1]


def test_an_event_that_was_dropped_ends_in_an_error_event_in_its_turn() -> None:
    script = Script(e0=["slow"])
    script.batch(3)
    script.world.operator("drop", Position("source", 0, 1))
    script.look()
    script.drained()
    ends: list[tuple[int, Destination]] = [(position.offset, to) for position, to in script.world.emitted[:3]]
    assert ends == [(0, "output"), (1, "error"), (2, "output")]


def test_a_marker_that_arrives_late_moves_no_other() -> None:
    script = Script(e0=["slow"])
    old = script.driver
    script.world.split_brain = True
    script.plan(1)
    short = script.play.start()
    of_short = short.pending()
    short.die()
    new = script.play.start()
    assert new.epoch == short.epoch, "nobody has seen the other's markers"
    for write in new.pending():
        script.world.land(write)
    new.fold()
    assert old.batch
    for write in (*old.batch.writes, *of_short):
        script.world.land(write)
    script.world.compact(dict(script.world.ends))
    assert script.world.folded().entries == {}, "what the old driver has deferred is void for good"
    old.die()
    script.drained()


def test_a_driver_that_was_replaced_does_not_commit_what_it_deferred() -> None:
    script = Script(e0=["slow"])
    old = script.driver
    script.world.split_brain = True
    script.plan(1)
    new = script.play.start()
    for write in new.pending():
        script.world.land(write)
    script.land()
    assert script.world.folded().voids == [Position("source", 0, 0)]
    old.settle()
    assert old.phase == "dead"
    assert script.world.commits == 0
