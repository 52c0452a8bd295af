"""The main lane's breakers in one Python worker, the endpoint's and one for each wiki; and how their state gets to the
driver and back.

    request ─▶ acquire_permission (waits while half-open trials are out) ─▶ begin ─▶ end
    task    ─▶ those of wikis that the driver knows to be open refuse, other open ones become half-open ─▶ …
            ─▶ what opened in it is reported at its end

A request needs permission from both grains, and tells both how it went; but to the endpoint's breaker what a wiki does
whose own is not closed is no news. The driver plans no batch while the endpoint is open, so a task that begins may try
it again. Of wikis only those are kept that were asked in the window or are unhealthy.
"""

import asyncio
import functools
import time
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import Breaker
from pipeline.fetch.breaker import ENDPOINT, Answer, CircuitBreaker, Opened, Pass, Scope
from pipeline.fetch.breaker_window import WikisWindow
from pipeline.fetch.route import Ask

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator

    from pipeline.worker.arrow import ArrowFunction


class BreakerOpenError(Exception):
    """The wiki is not asked now."""


@dataclass(frozen=True, slots=True)
class Permit:
    """Permission to make one request, from the breaker of its wiki and from that of the endpoint."""

    by_wiki: Pass
    by_endpoint: Pass


class Breakers:
    """The breakers of one worker. `settings` None: every request is permitted."""

    def __init__(self, settings: Breaker | None, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` counts seconds and never goes back."""
        self._settings = settings if settings is None or settings.policy == "wait" else None
        self._clock = clock
        self._window: WikisWindow | None = None
        self._endpoint: CircuitBreaker | None = None
        if self._settings is not None:
            self._window = WikisWindow(self._settings.minimum_wikis)
            self._endpoint = CircuitBreaker(ENDPOINT, self._settings, clock, self._window)
        self._wikis: dict[str, CircuitBreaker] = {}
        self._refused: Set[str] = frozenset()
        self._ended: dict[Scope, asyncio.Event] = {}

    async def acquire_permission(self, wiki_id: str) -> None:
        """Returns when `begin` would not refuse, which it still may. Raises BreakerOpenError while the breaker of the
        wiki, or that of the endpoint, is open.
        """
        if wiki_id in self._refused:
            raise BreakerOpenError(f"the breaker of {wiki_id} is open")
        while busy := [breaker for breaker in self._of(wiki_id) if not breaker.may_begin]:
            for breaker in busy:
                if breaker.state == "open":
                    raise BreakerOpenError(f"the breaker of {breaker.scope or 'the endpoint'} is open")
            await self._ended.setdefault(busy[0].scope, asyncio.Event()).wait()

    def begin(self, wiki_id: str, ask: Ask) -> Permit | None:
        """Permission for one request, to be followed by `end`; None when there is none now."""
        if self._settings is None or self._endpoint is None:
            return Permit(Pass(ask), Pass(ask))
        breaker = self._wikis.get(wiki_id)
        if breaker is None:
            breaker = self._wikis[wiki_id] = CircuitBreaker(wiki_id, self._settings, self._clock)
        by_wiki = None if wiki_id in self._refused else breaker.begin(ask)
        if by_wiki is None:
            return None
        by_endpoint = self._endpoint.begin(ask)
        if by_endpoint is None:
            breaker.abandon(by_wiki)
            return None
        return Permit(by_wiki, by_endpoint)

    def end(self, wiki_id: str, permit: Permit, answer: Answer | None) -> None:
        """The request has ended; without an answer, such as one that was cancelled, it says nothing
        about the upstream.
        """
        if self._endpoint is None or self._window is None:
            return
        breaker = self._wikis[wiki_id]
        if answer is None:
            breaker.abandon(permit.by_wiki)
            self._endpoint.abandon(permit.by_endpoint)
        else:
            breaker.end(permit.by_wiki, answer)
            of_wiki_alone = permit.by_wiki.trial is not None or breaker.state != "closed"
            if of_wiki_alone and permit.by_endpoint.trial is None:
                self._endpoint.abandon(permit.by_endpoint)
            else:
                self._endpoint.end(permit.by_endpoint, answer)
            if breaker.state != "closed":
                self._window.leave_out(wiki_id)
        for scope in (wiki_id, ENDPOINT):
            waiting = self._ended.pop(scope, None)
            if waiting is not None:
                waiting.set()

    def is_closed(self, wiki_id: str) -> bool:
        """Whether the wiki is healthy as far as is known, and so is the endpoint: what fails now fails for its own
        sake.
        """
        return wiki_id not in self._refused and all(breaker.state == "closed" for breaker in self._of(wiki_id))

    def new_task(self, refused: Set[str] = frozenset()) -> None:
        """A task begins, which asks nothing of the `refused` wikis: the driver knows that they are unhealthy."""
        self._refused = refused
        if self._endpoint is not None:
            self._endpoint.new_task()
        for wiki_id, breaker in list(self._wikis.items()):
            breaker.new_task(may_try=wiki_id not in refused)
            if breaker.is_idle:
                del self._wikis[wiki_id]

    def opened(self) -> list[Opened]:
        """Breakers that opened in this task."""
        breakers = [*self._wikis.values()] if self._endpoint is None else [self._endpoint, *self._wikis.values()]
        return [opened for breaker in breakers if (opened := breaker.opened()) is not None]

    def _of(self, wiki_id: str) -> list[CircuitBreaker]:
        return [breaker for breaker in (self._endpoint, self._wikis.get(wiki_id)) if breaker is not None]


@functools.cache
def of_process(settings: Breaker) -> Breakers:
    """The breakers of this process, which outlive the micro-batch."""
    return Breakers(settings)


def reporting_breakers(
    function: "ArrowFunction",
    settings: Breaker,
    opened_in_tasks: "Accumulator[list[Opened]]",
    refused: Set[str] = frozenset(),
) -> "ArrowFunction":
    """The same function for `mapInArrow`; its tasks ask nothing of the `refused` wikis, and each adds the breakers that
    opened in it to `opened_in_tasks`.
    """
    return functools.partial(_report, function, settings, opened_in_tasks, refused)


def _report(
    function: "ArrowFunction",
    settings: Breaker,
    opened_in_tasks: "Accumulator[list[Opened]]",
    refused: Set[str],
    batches: "Iterator[pa.RecordBatch]",
) -> "Iterator[pa.RecordBatch]":
    breakers = of_process(settings)
    breakers.new_task(refused)
    yield from function(batches)
    opened = breakers.opened()
    if opened:
        opened_in_tasks.add(opened)
