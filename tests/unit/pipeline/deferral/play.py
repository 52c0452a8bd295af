"""What may happen in the model's world: every step that is possible now, for whoever plays to pick from.

Two play: the hypothesis machine, which shrinks what it finds, and a seeded random walk, which is quicker by an order
of magnitude and so goes deeper in the same time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.settings import Settings
from tests.unit.pipeline.deferral.world import PAGES, Chooser, Outcome, Violation, World, Write, wiki_of


@dataclass(frozen=True)
class Move:
    name: str
    weight: float
    go: Callable[[], object]


@dataclass(frozen=True)
class Odds:
    """How often things happen, by weight; `split_brain` lets a driver live on when another has started."""

    crash: float = 0.5
    lose: float = 0.3
    late: float = 1
    command: float = 0.5
    produce: float = 4
    take: float = 4
    land: float = 24
    # The time of day is set back by a day.
    set_back: float = 0
    # Spark takes an executor for lost, and runs its task again beside it.
    lose_worker: float = 0
    pages: int = len(PAGES)
    filtered: bool = False
    # Which of a batch's writes are slow to arrive.
    laggard: Literal["none", "emissions", "ledger"] = "none"
    split_brain: bool = False
    outcomes: tuple[Outcome, ...] = ("ok", "ok", "slow", "final")
    # Wikis go down, and come back.
    outage: float = 0
    # The broker refuses a record, at which the process ends.
    refuse: float = 0

    @classmethod
    def drawn(cls, chooser: Chooser, *, split_brain: bool = False) -> "Odds":
        """Some of everything: walks that differ in what is frequent go further than walks that are alike."""
        return cls(
            crash=chooser.pick((0, 0.3, 1, 4)),
            command=chooser.pick((0, 0, 0.5, 2)),
            produce=chooser.pick((2, 6)),
            take=chooser.pick((4, 16)),
            land=chooser.pick((6, 24, 60)),
            lose=chooser.pick((0, 0.3, 2)),
            late=chooser.pick((0.3, 1, 12)),
            laggard=chooser.pick(("none", "emissions", "ledger")),
            pages=chooser.pick((1, 2, len(PAGES))),
            filtered=chooser.pick((False, False, True)),
            split_brain=split_brain,
            outcomes=chooser.pick(
                (("ok", "ok", "slow"), ("ok", "slow", "final"), ("ok", "ok", "final"), ("slow", "ok"))
            ),
        )


_DAY_MS = 86_400_000
DEFAULT_ODDS = Odds()
DEFAULT_SETTINGS = Settings()


class Play:
    """A world, the drivers that have lived in it, and what can happen next."""

    def __init__(
        self,
        chooser: Chooser,
        *,
        driver: type[Driver] = Driver,
        settings: Settings = DEFAULT_SETTINGS,
        odds: Odds = DEFAULT_ODDS,
    ) -> None:
        self.chooser, self.driver_type, self.settings, self.odds = chooser, driver, settings, odds
        self.healthy = False
        self.world = World(lambda _position: "ok" if self.healthy else chooser.pick(odds.outcomes))
        self.world.split_brain = odds.split_brain
        self.drivers: list[Driver] = []
        self.trace: list[str] = []
        self.compare = True
        self._checked: object = None

    def moves(self) -> list[Move]:
        # Events that nobody has read yet change nothing.
        found = [Move("produce", self.odds.produce / (8 if self.world.unread() else 1), self.produce)]
        if any(entry.not_before_ms > self.world.now_ms for driver in self.drivers for entry in driver.entries()):
            found.append(Move("time", 2, self._pass_time))
        if self.odds.set_back:
            found.append(Move("set the clock back", self.odds.set_back, self._set_back))
        landable = self.world.landable()
        if awaited := [write for write in landable if self.is_awaited(write)]:
            found.append(Move("land", self.odds.land, lambda: self.world.land(self._next(awaited))))
        if awaited and self.odds.refuse:
            found.append(Move("refuse", self.odds.refuse, lambda: self._refuse(self.chooser.pick(awaited))))
        if late := [write for write in landable if not self.is_awaited(write)]:
            found.append(Move("land late", self.odds.late, lambda: self.world.land(self._next(late))))
            found.append(Move("lose", self.odds.lose, lambda: self._lose(self.chooser.pick(late))))
        alive = [driver for driver in self.drivers if driver.phase != "dead"]
        if not alive or (self.odds.split_brain and len(alive) == 1 and alive[0].phase == "running"):
            found.append(Move("start", 0.3 if alive else 8, self.start))
        for driver in alive:
            found += self._of(driver)
            found += self._losses(driver)
            if self.odds.crash:
                # Where nothing is on its way, a crash is only a restart.
                found.append(Move("crash", self.odds.crash * (1 if driver.pending() else 0.1), driver.die))
        if self.odds.command and any(self.world.stored.values()):
            found.append(Move("command", self.odds.command, self._command))
        if (newest := self._newest()) and self._may_compact(newest):
            found.append(Move("compact", 1, lambda: self.world.compact(newest.cursor)))
        if self.odds.outage:
            found += self._outages(alive)
        if not alive:
            found.append(Move("compact in a long stop", 2, lambda: self.world.compact(dict(self.world.ends))))
        return found

    def check(self) -> None:
        """The ledger is the fold of its topic, whenever nobody is in the middle of something, and is bounded."""
        driver, seen = self._newest(), self.world.state_of_topic()
        if driver is None or not driver.at_rest() or seen == self._checked:
            return
        self._checked = seen
        kept, known = driver.lost.folded().entries, {entry.position: entry for entry in driver.entries()}
        known = {p: entry for p, entry in known.items() if p in kept or p not in self.world.resolved_by_lost}
        if self.compare and kept != known:
            differ = sorted(str(p) for p in {*kept, *known} if kept.get(p) != known.get(p))
            raise Violation(f"P0: the ledger is not the fold of its topic at {differ}")
        if len(kept) > (most := self.settings.max_entries + self.settings.max_offsets * len(self.world.source)):
            raise Violation(f"P8: {len(kept)} events are deferred, and {most} may be")

    def _of(self, driver: Driver) -> list[Move]:
        found = []
        if driver.can_fold():
            found.append(Move("fold", 8, driver.fold))
        if driver.can_go_on():
            found.append(Move("go on", 16, driver.go_on))
        if driver.can_begin():
            found.append(Move("begin", 3, lambda: driver.begin(self.chooser)))
        if driver.can_plan():
            found.append(Move("plan", 12, driver.plan))
        if driver.can_settle():
            found.append(Move("settle", 12, driver.settle))
        if driver.can_commit():
            found.append(Move("commit", 12, driver.commit))
        if driver.can_take():
            found.append(Move("take", self.odds.take, lambda: driver.take(pages=self.chooser.pick((2, 1)))))
        if driver.can_be_quiet():
            found.append(Move("quiet", 2, driver.be_quiet))
        if driver.can_look() and driver.cursor != self.world.ends:
            found.append(Move("look", 2, driver.look))
        for working in driver.rounds:
            if driver.can_finish(working):
                found.append(Move("finish", 8, lambda w=working: driver.finish(w)))
            if driver.can_release(working):
                found.append(Move("release", 8, lambda w=working: driver.release(w)))
        return found

    def _outages(self, alive: list[Driver]) -> list[Move]:
        down = self.world.down
        up = sorted({wiki_of(page) for page in PAGES[: self.odds.pages]} - down)
        found = [Move("probe", 4, driver.probe) for driver in alive if driver.can_probe()]
        if up:
            found.append(Move("outage", self.odds.outage, lambda: down.add(self.chooser.pick(up))))
        if down:
            found.append(Move("recover", self.odds.outage, lambda: down.remove(self.chooser.pick(sorted(down)))))
        return found

    def _losses(self, driver: Driver) -> list[Move]:
        if not self.odds.lose_worker:
            return []
        found = [driver.lose_worker] if driver.can_lose_worker() else []
        found += [partial(driver.lose_round, one) for one in driver.rounds if driver.can_lose_round(one)]
        return [Move("lose a worker", self.odds.lose_worker, go) for go in found]

    def produce(self) -> None:
        for _ in range(self.chooser.pick((1, 2, 3))):
            page = self.chooser.pick(PAGES[: self.odds.pages])
            self.world.produce(page, filtered=self.odds.filtered and self.chooser.pick((False,) * 5 + (True,)))

    def _lose(self, write: Write) -> None:
        lose = self.world.give_up if self.driver_type.gives_up else self.world.lose
        lose(write)

    def _refuse(self, write: Write) -> None:
        (owner,) = (driver for driver in self.drivers if driver.phase != "dead" and write in driver.pending())
        self._lose(write)
        owner.die()

    def _set_back(self) -> None:
        self.world.now_ms -= _DAY_MS

    def _pass_time(self) -> None:
        self.world.now_ms += self.chooser.pick((1000, 4000))

    def start(self) -> Driver:
        driver = self.driver_type(self.world, self.settings)
        self.drivers.append(driver)
        return driver

    def _command(self) -> None:
        if known := list(self.world.folded().entries):
            self.world.operator(self.chooser.pick(("retry", "drop")), self.chooser.pick(known))

    def _next(self, landable: list[Write]) -> Write:
        wanted = {"none": None, "emissions": "ledger", "ledger": "emission"}[self.odds.laggard]
        early = [write for write in landable if write.kind == wanted]
        if early and self.chooser.pick((True, True, True, False)):
            return self.chooser.pick(early)
        return self.chooser.pick(landable)

    def is_awaited(self, write: Write) -> bool:
        return any(write in driver.pending() for driver in self.drivers if driver.phase != "dead")

    def _newest(self) -> Driver | None:
        """The driver that took over last, when it runs."""
        newest = self.drivers[-1] if self.drivers else None
        return newest if newest and newest.phase == "running" else None

    def _may_compact(self, newest: Driver) -> bool:
        """Whether an hour may have passed: the driver that runs has met all void records by then, and mended them."""
        # One without an entry hides nothing.
        mended = not any(newest.ledger.get(position) for position in newest.ledger._voids)
        return newest.free and newest.cursor == self.world.ends and mended
