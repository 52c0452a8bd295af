"""When something happened, so that a step of the time of day does not falsify it.

A query compares a timestamp with the time of day: `time() - …` is an age. When that clock is set back, what was noted
before lies in the future, and the age of what no longer happens is negative until the clock has caught up. How long ago
it was the monotonic clock says.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

# Less is the two readings of a note, which are not made in the same moment, or a clock that is slewed.
_STEP_S = 1.0


@dataclass(frozen=True, slots=True)
class Noted:
    """Seconds since the epoch, and of the monotonic clock."""

    at: float
    monotonic: float


@dataclass(frozen=True, slots=True)
class Clocks:
    """The time of day in seconds since the epoch, and the monotonic clock in seconds."""

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic

    def note(self) -> Noted:
        """Now."""
        return Noted(self.now(), self.monotonic())

    def timestamp(self, noted: Noted) -> float:
        """Seconds since the epoch, as noted; corrected when the clock was set since."""
        step = (self.now() - noted.at) - (self.monotonic() - noted.monotonic)
        return noted.at + (step if abs(step) >= _STEP_S else 0.0)
