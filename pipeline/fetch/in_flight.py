"""How many bytes of fetched content one Python worker holds at once: those of records that it has not emitted.

    body ─▶ memory while there is room, else spool file ─▶ unspool: all in memory ─▶ the record is emitted: released

No record waits in the middle of a body, whose connection the upstream holds open and whose deadline runs. What waits,
and holds no slot meanwhile, are requests that have not begun (too much lies in spool files) and records to unspool
(memory is full). The oldest record waits for neither, so there is always one that can finish: it is behind no other of
its page. Hence memory never exceeds the bound by more than the eldest record has.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pipeline.metrics.catalogue import MEMORY_HELD_PEAK, SPOOL_PEAK
from pipeline.metrics.worker_metrics import RECORDER


class Holding:
    """The bytes of one record, until it is emitted."""

    def __init__(self, in_flight: "InFlightBytes") -> None:
        self._in_flight = in_flight
        self.memory_bytes = 0
        self.spooled_bytes = 0

    async def may_begin(self) -> None:
        """Waits before a record's first requests while as much as the bound lies in spool files."""
        await self._in_flight.wait_for_spool(self)

    def take(self, count: int) -> bool:
        """Whether there is room for `count` bytes in memory, which are then held."""
        return self._in_flight.take(self, count)

    def spool(self, count: int) -> None:
        """`count` bytes were written to a spool file."""
        self._in_flight.add(self, spooled=count)

    async def unspool(self, spooled: int) -> None:
        """Waits for room in memory for the `spooled` bytes that are in spool files, which are then
        counted as memory.
        """
        await self._in_flight.unspool(self, spooled)

    def give_back(self, *, memory: int, spooled: int) -> None:
        """These bytes were released before the record was emitted."""
        self._in_flight.add(self, memory=-memory, spooled=-spooled)
        self._in_flight.grant()


@dataclass(eq=False, slots=True)
class _Waiting:
    """A record that waits to load its spool file, or with None to begin; `granted` is set when there is room."""

    holding: Holding
    unspool_bytes: int | None
    granted: asyncio.Future[None]


_current: ContextVar[Holding | None] = ContextVar("pipeline_in_flight_record", default=None)


class InFlightBytes:
    """The bound of one worker, for one event loop. Records are held in the order in which they began."""

    def __init__(self, limit_bytes: float) -> None:
        """`limit_bytes` is infinite where a policy has no bound."""
        self._limit_bytes = limit_bytes
        self._holdings: dict[Holding, None] = {}
        self._waiting: list[_Waiting] = []
        self.memory_bytes = 0
        self.spooled_bytes = 0

    @contextmanager
    def record(self) -> Iterator[Holding]:
        """From a record's beginning until it is emitted; tasks that are started within belong to it too."""
        holding = Holding(self)
        self._holdings[holding] = None
        token = _current.set(holding)
        try:
            yield holding
        finally:
            _current.reset(token)
            self.add(holding, memory=-holding.memory_bytes, spooled=-holding.spooled_bytes)
            del self._holdings[holding]
            for waiting in self._waiting:
                if waiting.holding is holding:
                    waiting.granted.cancel()
            self.grant()

    @contextmanager
    def joined(self) -> Iterator[Holding]:
        """The record within which this is called, or one of its own, which ends here."""
        holding = _current.get()
        if holding is not None and holding in self._holdings:
            yield holding
        else:
            with self.record() as record:
                yield record

    def take(self, holding: Holding, count: int) -> bool:
        """See `Holding.take`."""
        # Records to unspool go first: each of them frees memory soon, and a body that has just begun does not.
        if self._one_waits_for_memory() or self.memory_bytes + count > self._limit_bytes:
            return False
        self.add(holding, memory=count)
        return True

    async def wait_for_spool(self, holding: Holding) -> None:
        """See `Holding.may_begin`."""
        if self.spooled_bytes >= self._limit_bytes:
            await self._wait(holding, None)

    async def unspool(self, holding: Holding, spooled: int) -> None:
        """See `Holding.unspool`; the bytes become those of memory."""
        await self._wait(holding, spooled)

    def add(self, holding: Holding, *, memory: int = 0, spooled: int = 0) -> None:
        """Count bytes to a record, or with a negative number off it; nothing once it is emitted."""
        if holding not in self._holdings:
            return  # a task of a record that was emitted already: it is counted no more
        holding.memory_bytes += memory
        holding.spooled_bytes += spooled
        self.memory_bytes += memory
        self.spooled_bytes += spooled
        if memory > 0:
            RECORDER.peak(MEMORY_HELD_PEAK, self.memory_bytes)
        if spooled > 0:
            RECORDER.peak(SPOOL_PEAK, self.spooled_bytes)

    async def _wait(self, holding: Holding, unspool_bytes: int | None) -> None:
        waiting = _Waiting(holding, unspool_bytes, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self.grant()
        try:
            await waiting.granted
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif unspool_bytes is not None:
                self.add(holding, memory=-unspool_bytes, spooled=unspool_bytes)
            self.grant()
            raise

    def grant(self) -> None:
        """Let go on what may, the oldest first; bytes to load are counted as memory here, so that no other record takes
        the room.
        """
        if not self._waiting:
            return
        age = {holding: number for number, holding in enumerate(self._holdings)}
        memory_is_open = True
        of_records = [waiting for waiting in self._waiting if waiting.holding in age]
        for waiting in sorted(of_records, key=lambda waiting: age[waiting.holding]):
            holding, unspool_bytes = waiting.holding, waiting.unspool_bytes
            if unspool_bytes is None:
                fits = self.spooled_bytes < self._limit_bytes
            else:
                # A younger and smaller one must not overtake for ever.
                fits = memory_is_open = memory_is_open and self.memory_bytes + unspool_bytes <= self._limit_bytes
            if waiting.granted.done() or not (fits or age[holding] == 0):  # who is done has been cancelled
                continue
            self._waiting.remove(waiting)
            self.add(holding, memory=unspool_bytes or 0, spooled=-(unspool_bytes or 0))
            waiting.granted.set_result(None)

    def _one_waits_for_memory(self) -> bool:
        return any(waiting.unspool_bytes is not None for waiting in self._waiting)
