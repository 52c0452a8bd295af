"""A batch's budget: a backstop for what keeps records from ending although their fetches have an allowance.

That is the wait for memory, or a queue of long diffs. When the budget is over, what has begun is deferred and the
batch goes on without it. What has not begun is not to blame: it has its allowance still, and the next end of a budget
before it.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from pipeline.fetch.deadline import noticed_begin
from pipeline.jobs.message import Unfinished
from pipeline.records.error_event import Failure

O = TypeVar("O")  # noqa: E741 — an outcome

BATCH_BUDGET: Final = "batch_budget"
"""The class of the failure; entries of the ledger have it as their cause."""


class BatchBudget:
    """The time budget of one task. `seconds` are granted again and again; a record has `allowance_s` in any case."""

    def __init__(self, seconds: float, allowance_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._allowance_s, self._clock = seconds, allowance_s, clock
        self._begun = clock()

    def remaining_s(self) -> float:
        """For a record that comes now: to the first end of a budget that leaves it its allowance."""
        elapsed = self._clock() - self._begun
        return self._seconds * math.ceil((elapsed + self._allowance_s) / self._seconds) - elapsed

    async def within(self, process: Callable[[], Awaitable[O]]) -> O | Unfinished:
        """The outcome of a record. A record without a request when the budget ends is started again."""
        while True:
            with noticed_begin() as begin:
                try:
                    async with asyncio.timeout(self.remaining_s()) as cut:
                        return await process()
                except TimeoutError:
                    if not cut.expired():
                        raise
            if begin.noticed:
                seconds = self._clock() - self._begun
                return Unfinished(Failure(BATCH_BUDGET, f"its batch was at work for {seconds:.1f} s"))
