"""What is due later, without saying on which loop."""

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that is made later, as asyncio's TimerHandle."""

    def cancel(self) -> None:
        """Does nothing when the call has been made."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls a function once, a number of seconds from now."""
