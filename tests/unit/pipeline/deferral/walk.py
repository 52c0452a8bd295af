"""Seeded random walks through the model, each drained at its end."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from tests.unit.pipeline.deferral.drain import Drain
from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.play import DEFAULT_SETTINGS, Odds, Play
from tests.unit.pipeline.deferral.settings import Settings

T = TypeVar("T")


class Walker:
    """Chooses by a seeded generator."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random.random() * len(options))]


def walk(
    seed: int,
    *,
    steps: int = 80,
    driver: type[Driver] = Driver,
    settings: Settings = DEFAULT_SETTINGS,
    odds: Odds | None = None,
    split_brain: bool = False,
    outage: float = 0,
    compare: bool = True,
    lose_worker: float = 0,
) -> Play:
    """Play `steps` random moves and drain; raises Violation. The odds are drawn unless they are given; that of
    an outage is `outage`.

    `compare` is P0: without it a mutant is found by what it leads to. `lose_worker` is drawn by nobody.
    """
    walker = Walker(seed)
    drawn = odds or replace(Odds.drawn(walker, split_brain=split_brain), outage=outage)
    if lose_worker:
        drawn = replace(drawn, lose_worker=lose_worker)
    play = Play(walker, driver=driver, settings=settings, odds=drawn)
    play.compare = compare
    wander(play, walker, steps)
    Drain(play).run()
    return play


def wander(play: Play, walker: Walker, steps: int) -> None:
    """Some random moves, without an end; raises Violation."""
    for _ in range(steps):
        moves = play.moves()
        (move,) = walker.random.choices(moves, [move.weight for move in moves])
        play.trace.append(move.name)
        move.go()
        play.check()
