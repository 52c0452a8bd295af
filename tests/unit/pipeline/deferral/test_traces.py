"""The traces by which simpler designs put a page's events out of order, lose them or starve them, step by step.

F1 to F6 are the shortest that are known for designs that anybody would try first; those behind them are holes that
earlier wordings of this protocol had. Each test goes the same way and comes out right.
"""

from collections.abc import Sequence
from typing import TypeVar

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

    def out(self) -> list[int]:
        return [position.offset for position, _destination in self.world.emitted]

    def kept(self) -> dict[int, str]:
        return {entry.position.offset: entry.kind for entry in self.driver.ledger.listing()}

    def drained(self) -> list[int]:
        Drain(self.play).run()
        return self.out()

    def _go_on(self) -> None:
        while self.driver.locked:
            self.land()
            self.driver.go_on()


def test_f1_the_slow_lane_does_not_see_a_record_of_a_batch_that_is_under_way() -> None:
    script = Script(e1=["slow"])
    script.plan(2)
    script.land("ledger")
    assert not script.take(), "the stuck event is in the topic, and the one before it is not out yet"
    script.settle()
    assert script.take()
    script.finish()
    assert script.out() == [0, 1]


def test_f2_a_page_is_not_free_because_the_slow_lane_is_done_with_what_it_took() -> None:
    script = Script(e0=["slow"])
    script.plan(1)
    script.settle()
    assert script.take()
    script.plan(1)
    script.finish()
    script.settle()
    assert script.kept() == {1: "waiting"}
    script.plan(1)
    script.settle()
    assert script.out() == [0, 1, 2]


def test_f3_a_batch_that_was_planned_while_the_page_was_blocked_still_counts() -> None:
    script = Script(e0=["slow"])
    script.plan(1)
    script.settle()
    script.plan(1)
    assert script.take()
    script.finish()
    assert script.kept() == {}, "nothing of the page is left, and event 1 is on its way to the topic"
    script.settle()
    script.plan(1)
    script.settle()
    assert script.out() == [0, 1, 2]


def test_f4_after_a_crash_the_slow_lane_waits_for_the_replayed_batch() -> None:
    script = Script(e1=["slow"])
    script.plan(2)
    script.land("ledger")
    script.restart()
    assert script.kept() == {1: "stuck"}
    assert not script.take(), "event 0 is not out"
    script.plan(0)
    assert not script.take()
    script.settle()
    assert script.take()
    script.finish()
    assert script.out() == [0, 1]
    assert script.world.folded().entries == {}, "the replayed row left no orphan"


def test_f5_an_event_is_resolved_only_when_its_output_is_acked() -> None:
    script = Script(e0=["slow"])
    script.plan(1)
    script.settle()
    assert script.take()
    (working,) = script.driver.rounds
    assert not script.driver.can_finish(working)
    script.restart()
    assert script.kept() == {0: "stuck"}
    assert script.drained()[0] == 0


def test_f6_a_hot_page_comes_back_one_batch_after_its_last_stuck_event() -> None:
    script = Script(e0=["slow"])
    script.plan(1)
    script.settle()
    assert script.take()
    script.plan(2)
    script.finish()
    script.settle()
    assert script.kept() == {1: "waiting", 2: "waiting"}
    assert not script.take(), "between two batches the main lane is not idle"
    script.plan(2)
    script.settle()
    assert script.kept() == {}
    assert script.out() == [0, 1, 2, 3, 4]


def test_a_stuck_event_behind_a_waiting_one_does_not_starve() -> None:
    script = Script(e0=["slow"], e2=["slow"])
    script.plan(1)
    script.settle()
    script.take()
    script.plan(1)
    script.finish()
    script.settle()
    script.plan(1)  # reserves the waiting event 1, and 2 gets stuck behind it
    script.land()
    script.restart()
    assert script.kept() == {1: "waiting", 2: "stuck"}
    script.plan(0)
    script.settle()
    assert script.take(), "though traffic goes on"
    script.finish()
    assert script.out() == [0, 1, 1, 2]


def test_a_replayed_batch_does_not_wait_for_the_bound() -> None:
    script = Script(Settings(max_entries=0, reservations=10, max_offsets=10, rounds=1), e0=["slow"])
    script.plan(1)
    script.land()
    script.restart()
    assert script.driver.ledger.over_bound
    assert not script.take()
    script.driver.begin(script)
    assert script.driver.can_plan()
    script.driver.plan()
    script.settle()
    assert script.drained()[:1] == [0]


def test_the_main_lane_that_waits_for_the_bound_is_idle() -> None:
    script = Script(Settings(max_entries=0, reservations=10, max_offsets=10, rounds=1), e0=["slow", "slow"])
    script.plan(2)
    script.settle()
    script.world.produce(PAGES[0])
    script.driver.begin(script)
    assert not script.driver.can_plan()
    assert script.take()
    script.finish()
    assert not script.driver.can_plan()
    script.world.now_ms += 10_000
    assert script.take()
    script.finish()
    assert script.driver.can_plan()
    assert script.out() == [0, 1]


def test_an_error_event_does_not_race_with_the_next_events_output() -> None:
    """Were both on their way, a crash could keep output 1 and lose the error event of 0, which then goes well."""
    script = Script(e0=["final", "ok"])
    first = script.plan(2)
    assert [write.kind for write in first] == ["emission", "ledger"]
    script.land("ledger")
    script.restart()
    script.plan(0)
    script.settle()
    assert script.drained()[:2] == [0, 1]


def test_what_an_operator_wrote_before_a_batch_is_not_taken_for_the_batchs() -> None:
    script = Script(e0=["slow"])
    script.plan(1)
    script.settle()
    script.take()
    script.plan(1)
    script.finish()
    script.settle()
    assert script.kept() == {1: "waiting"}
    script.world.operator("retry", Position("source", 0, 1))
    script.driver.look()
    script._go_on()
    script.plan(1)
    script.settle()
    assert script.kept() == {}
    assert script.out() == [0, 1, 2]


def test_an_event_that_was_dropped_ends_in_an_error_event_in_its_turn() -> None:
    script = Script(e0=["slow"])
    script.plan(3)
    script.settle()
    script.world.operator("drop", Position("source", 0, 1))
    script.driver.look()
    script._go_on()
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
