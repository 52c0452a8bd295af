"""The time of a world: seconds since the first request to any wiki, which is what windows and counts go by."""

from collections.abc import Callable


class RequestClock:
    """Stands still until the first request; what is asked of the control does not start it."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._first: float | None = None

    def arrive(self) -> float:
        """When the request that comes in now does so; 0.0 for the first."""
        now = self._monotonic()
        if self._first is None:
            self._first = now
        return now - self._first

    def elapsed(self) -> float | None:
        """Seconds since the first request; None before."""
        return None if self._first is None else self._monotonic() - self._first
