"""The clock of the whole mock, which all its worlds share."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mockapi.clock.timer import Later, Timer


def _on_the_loop(seconds: float, call: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(seconds, call)


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` gives aware times, `monotonic` seconds from an arbitrary start, `later` calls a function after seconds."""

    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    monotonic: Callable[[], float] = time.monotonic
    later: Later = _on_the_loop
