"""Time, as it is passed in to all that goes by it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol


class Timer(Protocol):
    """A call that is made later, as asyncio's TimerHandle."""

    def cancel(self) -> None:
        """Does nothing when the call has been made."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls a function once, a number of seconds from now."""


def _on_the_loop(seconds: float, call: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(seconds, call)


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` gives aware times, `monotonic` seconds from an arbitrary start, `later` calls a function after seconds."""

    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    monotonic: Callable[[], float] = time.monotonic
    later: Later = _on_the_loop


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
