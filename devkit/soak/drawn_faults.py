"""The faults of a soak and their times, drawn from a seed.

Faults are drawn in lanes. Those of a lane act on the same part, one after the other, with time to recover between two.
Lanes are independent, so a slow store, a killed driver and a paused broker may coincide. All faults end before the last
tenth of the traffic, in which the job has to recover.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

from devkit.soak.lanes import JOB_LANES, Choice, Lanes

STARTS: Final = timedelta(seconds=40)
"""For a program and its first batch on an idle machine. Before it there is no process that could be killed."""
LEAST: Final = timedelta(minutes=1)
"""Of traffic, or there is no time for a fault between start and end."""
_HEALTHY: Final = 0.9
_SHORT_S: Final = 1.0


@dataclass(frozen=True)
class DrawnFault:
    """A fault of the timeline with its time from the arm's start, in whole tenths of a second.

    `lasts` is None for one that is over at once.
    """

    name: str
    do: dict[str, dict[str, Any]]
    at: timedelta
    lasts: timedelta | None


def draw_faults(seed: int, length: timedelta, lanes: Lanes = JOB_LANES) -> tuple[DrawnFault, ...]:
    """The faults of a soak under `length` of traffic, in the order of their time: the same for the same values."""
    until_s = length.total_seconds() * _HEALTHY
    # A generator for each lane: a new kind of fault in one leaves the others as they were.
    drawn = [fault for lane, choices in lanes.items() for fault in _lane(Random(f"{seed} {lane}"), choices, until_s)]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.name)))


def _lane(random: Random, choices: Sequence[Choice], until_s: float) -> Iterator[DrawnFault]:
    at_s, drawn = STARTS.total_seconds() + random.uniform(0, 15), 0
    while True:
        choice = random.choice(choices)
        lasts_s = random.uniform(_SHORT_S, choice.at_most_s) if choice.lasts else 0.0
        if at_s + lasts_s > until_s:
            return
        drawn += 1
        lasts = timedelta(seconds=round(lasts_s, 1)) if choice.lasts else None
        yield DrawnFault(f"{choice.name} ({drawn})", choice.do(random), timedelta(seconds=round(at_s, 1)), lasts)
        at_s += lasts_s + choice.recovers_s + random.expovariate(1 / 10)
