"""What is due later, without saying on which loop."""

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """What is due later."""

    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls a function once, a number of seconds from now."""
