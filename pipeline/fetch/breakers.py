"""The main lane's breakers in one Python worker, by wiki; and how their state gets to the driver and back.

    request ─▶ acquire_permission (waits while a half-open wiki's trials are out) ─▶ begin ─▶ end
    task    ─▶ open ones become half-open ─▶ … ─▶ what opened in it is reported at its end

The driver plans no batch while a wiki is open that a task reported, so a task that begins may try again.
"""

import asyncio
import functools
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pipeline.config import Breaker
from pipeline.fetch.breaker import Answer, Ask, Opened, Pass, WikiBreaker

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator

    from pipeline.arrow import ArrowFunction


class BreakerOpenError(Exception):
    """The wiki is not asked now."""


class Breakers:
    """Of one worker. `settings` None: every request is permitted."""

    def __init__(self, settings: Breaker | None, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` counts seconds and never goes back."""
        self._settings = settings if settings is None or settings.policy == "wait" else None
        self._clock = clock
        self._wikis: dict[str, WikiBreaker] = {}
        self._ended: dict[str, asyncio.Event] = {}

    async def acquire_permission(self, wiki_id: str) -> None:
        """Returns when `begin` would not refuse, which it still may. Raises BreakerOpenError while the wiki is open."""
        breaker = self._wikis.get(wiki_id)
        while breaker is not None and not breaker.may_begin:
            if breaker.state == "open":
                raise BreakerOpenError(f"the breaker of {wiki_id} is open")
            await self._ended.setdefault(wiki_id, asyncio.Event()).wait()

    def begin(self, wiki_id: str, ask: Ask) -> Pass | None:
        """Permission for one request, to be followed by `end`; None when there is none now."""
        if self._settings is None:
            return Pass(ask)
        breaker = self._wikis.get(wiki_id)
        if breaker is None:
            breaker = self._wikis[wiki_id] = WikiBreaker(wiki_id, self._settings, self._clock)
        return breaker.begin(ask)

    def end(self, wiki_id: str, passed: Pass, answer: Answer | None) -> None:
        """The request has ended; without an answer, such as one that was cancelled, it says nothing
        about the upstream.
        """
        if self._settings is None:
            return
        if answer is None:
            self._wikis[wiki_id].abandon(passed)
        else:
            self._wikis[wiki_id].end(passed, answer)
        waiting = self._ended.pop(wiki_id, None)
        if waiting is not None:
            waiting.set()

    def new_task(self) -> None:
        """A task begins."""
        for breaker in list(self._wikis.values()):
            breaker.new_task()

    def opened(self) -> list[Opened]:
        """The wikis that were found to be unhealthy in this task."""
        return [opened for breaker in list(self._wikis.values()) if (opened := breaker.opened()) is not None]


@functools.cache
def of_process(settings: Breaker) -> Breakers:
    """Those of this process, which outlive the micro-batch."""
    return Breakers(settings)


def reporting_breakers(
    function: "ArrowFunction", settings: Breaker, opened_in_tasks: "Accumulator[list[Opened]]"
) -> "ArrowFunction":
    """The same function for `mapInArrow`; each of its tasks adds the breakers that opened in it to
    `opened_in_tasks`.
    """
    return functools.partial(_report, function, settings, opened_in_tasks)


def _report(
    function: "ArrowFunction",
    settings: Breaker,
    opened_in_tasks: "Accumulator[list[Opened]]",
    batches: "Iterator[pa.RecordBatch]",
) -> "Iterator[pa.RecordBatch]":
    breakers = of_process(settings)
    breakers.new_task()
    yield from function(batches)
    opened = breakers.opened()
    if opened:
        opened_in_tasks.add(opened)
