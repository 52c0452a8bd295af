"""When each piece of a body may leave."""

import asyncio
import math
from datetime import timedelta
from typing import Final

from mockapi.server.delivery import Delivery, Pace
from mockapi.server.disconnect_watch import DisconnectWatch

PIECE_BYTES: Final = 64 * 1024
"""What is sent at a time without a pace. So much of an answer its slow client may keep in the server's memory."""

_STEP_S: Final = 0.25
_FOR_EVER: Final = Pace(1, 1.0)


def pace_of(delivery: Delivery, total: int) -> Pace | None:
    """The pace of a body of `total` bytes; None for as fast as it goes."""
    if delivery.through_body is None:
        return _FOR_EVER
    if delivery.through_body == timedelta(0):
        return delivery.pace
    return _spread(total, delivery.through_body.total_seconds())


def _spread(total: int, seconds: float) -> Pace | None:
    """The first bytes at once and the last after `seconds`. One byte cannot be spread."""
    steps = min(total, math.ceil(seconds / _STEP_S) + 1)
    if steps < 2:
        return None
    step_bytes = math.ceil(total / steps)
    gaps = math.ceil(total / step_bytes) - 1
    return Pace(step_bytes, seconds / gaps)


class Steps:
    """Follows a pace from now on, by the loop's clock: a step that was late does not delay the next ones."""

    def __init__(self, pace: Pace | None, watch: DisconnectWatch) -> None:
        self._pace = pace
        self._watch = watch
        self._clock = asyncio.get_running_loop().time
        self._start_s = self._clock()

    def room(self, sent: int) -> int:
        """How many bytes may leave next, at least 1, once `sent` have left."""
        return (
            PIECE_BYTES
            if self._pace is None
            else min(PIECE_BYTES, self._pace.step_bytes - sent % self._pace.step_bytes)
        )

    async def wait(self, sent: int) -> bool:
        """Waits until the next may leave; False when the client has disconnected."""
        pace = self._pace
        if pace is None or sent % pace.step_bytes:
            return await self._watch.wait(0.0)
        steps = sent // pace.step_bytes + (0 if pace.at_once else 1)
        return await self._watch.wait(self._start_s + steps * pace.every_s - self._clock())
