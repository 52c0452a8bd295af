"""The clock of an arm: it counts from the arm's beginning, and stands still while the arm is paused."""

import time
from collections.abc import Callable


class ArmClock:
    """`monotonic` counts seconds, `wall` milliseconds as records carry them."""

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, wall: Callable[[], int] = lambda: int(time.time() * 1000)
    ) -> None:
        self._monotonic, self._wall = monotonic, wall
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._began, self._began_ms = self._monotonic(), self._wall()

    def now_s(self) -> float:
        return self._monotonic() - self._began

    def wall_ms(self) -> int:
        """The wall clock's time now."""
        return self._wall()

    @property
    def began_ms(self) -> int:
        """The wall clock's time when it began to count."""
        return self._began_ms

    def stood_still(self, seconds: float) -> None:
        """Leave out the last seconds."""
        self._began += seconds
