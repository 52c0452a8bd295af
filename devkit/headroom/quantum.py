"""The fixed quantum of processor work, in parts that are much shorter than a scheduler's slice."""

import time
from dataclasses import dataclass

PARTS = 16
_STEPS = 3_200
SIZE = f"{PARTS} x {_STEPS} steps"
_FASTEST = 3
"""The index of the part that counts as undisturbed: not the very fastest, as clocks are coarse."""

REFERENCE_S = 0.0040
"""The quantum on a free core of the machine on which the scenarios' margins were measured (CPython 3.11)."""


@dataclass(frozen=True)
class Worked:
    """When it was done, and how long all of it takes at the pace of its undisturbed parts."""

    done_s: float
    core_s: float


def work() -> Worked:
    """Do the quantum now. Times are of the monotonic clock, which all processes of a machine share."""
    took: list[float] = []
    value = 1
    then = time.monotonic()
    for _ in range(PARTS):
        for _ in range(_STEPS):
            value = (value * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
        now = time.monotonic()
        took.append(now - then)
        then = now
    return Worked(then, PARTS * sorted(took)[_FASTEST])
