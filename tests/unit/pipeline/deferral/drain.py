"""P6: from any state, a healthy upstream drains.

First under traffic on all pages, with the slow lane as greedy as it may be: it takes what it can before each batch is
planned, and is done after. Every page that had entries must be without one at some time. Then in silence, until all is
out and the topic's fold is empty.
"""

from collections.abc import Sequence
from dataclasses import replace

from pipeline.deferral.entry import Page
from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.play import Play
from tests.unit.pipeline.deferral.settings import POLICY
from tests.unit.pipeline.deferral.under_way import Working
from tests.unit.pipeline.deferral.world import PAGES, Violation

# Beyond any rest between two tries.
_LATER_MS = 2 * round(1000 * POLICY.backoff_cap_s)
# Each entry that was dropped takes two: its error event has to leave by itself.
_HOT_CYCLES = 30
_PATIENCE, _LONG = 60, 10_000


class Drain:
    def __init__(self, play: Play) -> None:
        self.play, self.world = play, play.world

    def run(self) -> None:
        """Raises Violation where it does not drain."""
        self.play.healthy = True
        self.world.down.clear()
        for driver in self.play.drivers[:-1]:
            driver.die()
        for write in self.world.landable():
            if not self.play.is_awaited(write):
                self.play.chooser.pick((self.world.land, self.world.lose))(write)
        # A wider net, or reservations could not keep up with traffic on every page.
        self.play.settings = replace(self.play.settings, reservations=1000, max_offsets=1000, round_entries=1000)
        self._traffic()
        self._silence()
        self.world.check_drained()

    def _traffic(self) -> None:
        driver = self._driver()
        full = set(self._pages())
        for _ in range(_HOT_CYCLES):
            for page in PAGES[: self.play.odds.pages]:
                self.world.produce(page)
            driver = self._cycle()
            self.play.check()
            full &= set(self._pages())
            # The bound has made no deadlock; from here on it would only make the slow lane idle, and hide what starves.
            self.play.settings = replace(self.play.settings, max_entries=10**6)
            driver.ledger._max_entries = 10**6
            if not full:
                return
        raise Violation(f"P6: under traffic these pages never leave the ledger: {sorted(map(str, full))}")

    def _pages(self) -> list[Page]:
        return [entry.page for entry in self.world.folded().entries.values()]

    def _driver(self) -> Driver:
        """A driver that runs; what it has under way is kept."""
        driver = (
            self.play.drivers[-1] if self.play.drivers and self.play.drivers[-1].phase != "dead" else self.play.start()
        )
        for _ in range(_LONG):
            self._land_all()
            if driver.phase == "dead":
                driver = self.play.start()
            elif driver.can_fold():
                driver.fold()
            elif driver.can_go_on():
                driver.go_on()
            elif driver.free:
                driver.settings = self.play.settings
                driver.probe()
                return driver
        raise Violation("P6: no driver comes to run")

    def _cycle(self) -> Driver:
        """One batch, if there is anything for it."""
        for attempt in range(_PATIENCE):
            driver = self._driver()
            before = list(driver.rounds)
            if driver.can_take():
                driver.take(pages=100)
            if driver.batch is None and driver.can_begin():
                driver.begin(self.play.chooser)
            elif driver.can_plan():
                driver.plan()
                self._finish(driver, driver.rounds)
            elif driver.can_settle():
                driver.settle()
            elif driver.can_commit():
                driver.commit()
                self.world.now_ms += _LATER_MS
                return self._driver()
            elif driver.batch is not None:  # it waits for the bound
                self._finish(driver, before)
                self.world.now_ms += _LATER_MS
            elif attempt:
                return driver
        raise Violation("P6: a batch is planned and never comes to its end")

    def _finish(self, driver: Driver, rounds: Sequence[Working]) -> None:
        for working in list(rounds):
            for _ in range(_PATIENCE):
                self._land_all()
                if driver.can_go_on():
                    driver.go_on()
                elif driver.can_finish(working):
                    driver.finish(working)
                elif driver.can_release(working):
                    driver.release(working)
                    break

    def _silence(self) -> None:
        for _ in range(_PATIENCE):
            driver = self._driver()
            if driver.can_begin() or driver.batch:
                self._cycle()
            elif driver.ledger.entries or driver.commands:
                driver.be_quiet()
                driver.take(pages=100)
                self._finish(driver, driver.rounds)
                self.world.now_ms += _LATER_MS
            elif driver.ledger.repairs() == []:
                return
        raise Violation("P6: the ledger never drains in silence")

    def _land_all(self) -> None:
        while self.world.flight:
            self.world.land(self.world.landable()[0])
