"""When an outage is told: at its beginning, after each minute that it goes on, and at its end."""

import time
from collections.abc import Callable

_REMIND_S = 60.0


class OutageClock:
    """`clock` is in seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None
        self._told_at = 0.0

    @property
    def is_running(self) -> bool:
        """Whether the last attempt failed."""
        return self._since is not None

    def fail(self) -> float | None:
        """Note a failed attempt: the seconds of the outage so far where it is to be told now, else None."""
        now = self._clock()
        if self._since is None:
            self._since = now
        elif now - self._told_at < _REMIND_S:
            return None
        self._told_at = now
        return round(now - self._since, 1)

    def end(self) -> float | None:
        """Note a success: the seconds that the outage took, None where there was none."""
        since, self._since = self._since, None
        return None if since is None else round(self._clock() - since, 1)
