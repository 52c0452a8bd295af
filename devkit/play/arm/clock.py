"""The clock of an arm: it counts from the arm's beginning, and stops while the arm is paused."""

import contextlib
import time
from collections.abc import Callable, Iterator


class ArmClock:
    """`monotonic` counts seconds, `wall` milliseconds as records carry them."""

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, wall: Callable[[], int] = lambda: int(time.time() * 1000)
    ) -> None:
        self._monotonic, self._wall = monotonic, wall
        self._paused_at: float | None = None
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._began, self._began_ms = self._monotonic(), self._wall()

    def now_s(self) -> float:
        """Seconds since `begin`, without pauses."""
        stands_at = self._paused_at
        return (self._monotonic() if stands_at is None else stands_at) - self._began

    def wall_ms(self) -> int:
        """The wall clock's time now."""
        return self._wall()

    @property
    def began_ms(self) -> int:
        """The wall clock's time when it began to count."""
        return self._began_ms

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock meanwhile; other threads may still read it."""
        began = self._paused_at = self._monotonic()
        try:
            yield
        finally:
            self._began += self._monotonic() - began
            self._paused_at = None
