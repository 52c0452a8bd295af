"""Seeded random walks through the model, each drained at its end."""

import random
from collections.abc import Sequence
from typing import TypeVar

from tests.unit.pipeline.deferral.drain import Drain
from tests.unit.pipeline.deferral.driver import Driver, Settings
from tests.unit.pipeline.deferral.play import DEFAULT_SETTINGS, Odds, Play

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
    compare: bool = True,
) -> Play:
    """Play `steps` random moves and drain; raises Violation. The odds are drawn unless they are given.

    `compare` is P0: without it a mutant is found by what it leads to.
    """
    walker = Walker(seed)
    drawn = odds or Odds.drawn(walker, split_brain=split_brain)
    play = Play(walker, driver=driver, settings=settings, odds=drawn)
    play.compare = compare
    for _ in range(steps):
        moves = play.moves()
        (move,) = walker.random.choices(moves, [move.weight for move in moves])
        play.trace.append(move.name)
        move.go()
        play.check()
    Drain(play).run()
    return play
