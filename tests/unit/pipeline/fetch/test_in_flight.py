"""The bound on bytes: never exceeded by more than the eldest record has, and never the end of all progress."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pipeline.fetch.in_flight import Holding, InFlightBytes
from pipeline.fetch.spool import Spool, unnamed_file
from pipeline.metrics.catalogue import MEMORY_HELD_PEAK, SPOOL_PEAK
from pipeline.metrics.worker_metrics import RECORDER

LIMIT = 20
# Far beyond what any of these tests takes: it turns a deadlock into a failure.
HANG_S = 5


@dataclass(frozen=True)
class Body:
    pieces: list[int]
    turns: int = 0
    tries: int = 1
    read: bool = True


@dataclass(frozen=True)
class Page:
    """A record, of a page whose earlier records leave first."""

    page: int
    bodies: list[Body]
    given_up_after: int | None = None  # in turns of the loop, once it has begun


BODIES = st.builds(Body, st.lists(st.integers(1, 15), max_size=5), st.integers(0, 4), st.integers(1, 2), st.booleans())
PAGES = st.builds(Page, st.integers(0, 2), st.lists(BODIES, max_size=2), st.none() | st.integers(1, 12))


class Watch(InFlightBytes):
    """Checks the bound whenever something changes."""

    def add(self, holding: Holding, *, memory: int = 0, spooled: int = 0) -> None:
        super().add(holding, memory=memory, spooled=spooled)
        assert self.memory_bytes >= 0
        assert self.spooled_bytes >= 0
        of_all = list(self._holdings)
        if holding in of_all:
            assert self.memory_bytes == sum(one.memory_bytes for one in of_all)
            assert self.memory_bytes - of_all[0].memory_bytes <= LIMIT


def run(steps: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def go() -> None:
        async with asyncio.timeout(HANG_S):
            await steps()

    asyncio.run(go())


async def turns(count: int) -> None:
    for _turn in range(count):
        await asyncio.sleep(0)


# Not shrunk: each example of a deadlock takes `HANG_S`.
@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(records=st.lists(PAGES, max_size=12), inline=st.integers(0, 12), requests=st.integers(1, 6))
def test_all_records_leave_and_the_bound_holds(records: list[Page], inline: int, requests: int) -> None:
    """Bodies of any size, read in any rhythm, retried, failed or given up, in a few slots and in the order of pages."""
    in_flight = Watch(LIMIT)

    async def steps() -> None:
        slots = asyncio.Semaphore(requests)
        done: dict[int, asyncio.Event] = {}

        async def body(holding: Holding, body: Body) -> None:
            await holding.may_begin()
            for _ in range(body.tries):
                spool = Spool(holding, inline)
                try:
                    async with slots:
                        for piece in body.pieces:
                            await turns(body.turns)
                            spool.write(bytes(piece))
                except BaseException:
                    spool.discard()
                    raise
                try:
                    whole = await spool.whole()
                except BaseException:
                    spool.discard()
                    raise
                assert len(whole) == sum(body.pieces)
                if body.tries > 1 or not body.read:
                    spool.discard()

        async def record(page: Page, before: asyncio.Event | None, left: asyncio.Event) -> None:
            try:
                with in_flight.record() as holding:
                    async with asyncio.TaskGroup() as group:
                        for one in page.bodies:
                            group.create_task(body(holding, one))
                    if before:
                        await before.wait()
            finally:
                left.set()

        tasks = []
        for page in records:
            before, done[page.page] = done.get(page.page), asyncio.Event()
            task = asyncio.create_task(record(page, before, done[page.page]))
            tasks.append(task)
            if page.given_up_after is not None:
                await turns(page.given_up_after)
                task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            assert outcome is None or isinstance(outcome, asyncio.CancelledError), outcome

    run(steps)
    assert (in_flight.memory_bytes, in_flight.spooled_bytes) == (0, 0)
    assert not in_flight._waiting
    assert not in_flight._holdings


def test_a_claim_waits_until_a_record_has_left_unless_it_is_the_eldests() -> None:
    in_flight = InFlightBytes(LIMIT)

    async def steps() -> None:
        with in_flight.record() as eldest:
            with in_flight.record() as second:
                assert second.take(15)
                second.spool(10)
                eldest.spool(30)
                own = asyncio.create_task(second.unspool(10))
                await eldest.unspool(30)
                await turns(5)
                assert not own.done()
                assert in_flight.memory_bytes == 45
                own.cancel()
                await turns(5)
            assert in_flight.memory_bytes == 30

    run(steps)
    assert (in_flight.memory_bytes, in_flight.spooled_bytes) == (0, 0)


def test_the_next_is_the_eldest_when_the_eldest_has_left() -> None:
    in_flight = InFlightBytes(LIMIT)

    async def steps() -> None:
        scopes = [in_flight.record() for _ in range(3)]
        holdings = [scope.__enter__() for scope in scopes]
        for holding in holdings:
            holding.spool(LIMIT * 2)
        claims = [asyncio.create_task(holding.unspool(LIMIT * 2)) for holding in holdings]
        for number, scope in enumerate(scopes):
            await turns(5)
            assert [claim.done() for claim in claims] == [at <= number for at in range(3)]
            scope.__exit__(None, None, None)

    run(steps)


def test_a_small_claim_does_not_overtake_an_elder_one() -> None:
    in_flight = InFlightBytes(LIMIT)

    async def steps() -> None:
        with in_flight.record() as eldest, in_flight.record() as second, in_flight.record() as third:
            assert eldest.take(5)
            second.spool(LIMIT)
            third.spool(1)
            large = asyncio.create_task(second.unspool(LIMIT))
            await turns(5)
            small = asyncio.create_task(third.unspool(1))
            await turns(5)
            assert (large.done(), small.done()) == (False, False)
            assert not third.take(1), "what is read meanwhile goes to its file"
            eldest.give_back(memory=5, spooled=0)
            await turns(5)
            assert (large.done(), small.done()) == (True, False)
            second.give_back(memory=LIMIT, spooled=0)
            await small

    run(steps)


def test_no_request_begins_while_spool_files_hold_as_much_as_the_bound_but_the_eldests() -> None:
    in_flight = InFlightBytes(LIMIT)

    async def steps() -> None:
        with in_flight.record() as eldest, in_flight.record() as second:
            second.spool(LIMIT)
            third = asyncio.create_task(second.may_begin())
            await eldest.may_begin()
            await turns(5)
            assert not third.done()
            second.give_back(memory=0, spooled=1)
            await third

    run(steps)


def test_what_is_started_within_a_record_belongs_to_it() -> None:
    in_flight, other = InFlightBytes(LIMIT), InFlightBytes(LIMIT)

    async def joined() -> Holding:
        with in_flight.joined() as holding:
            return holding

    async def steps() -> None:
        with in_flight.record() as record:
            assert await asyncio.gather(joined(), joined()) == [record, record]
            task = asyncio.create_task(joined())
            with other.joined() as own:
                assert own is not record, "it is of another bound"
        assert await task is not record, "it began when the record had left"
        assert await joined() is not record

    run(steps)
    assert not in_flight._holdings


def test_a_task_that_outlives_its_record_neither_waits_nor_counts() -> None:
    in_flight = InFlightBytes(LIMIT)

    async def steps() -> None:
        with in_flight.record() as eldest:
            with in_flight.record() as second:
                eldest.spool(LIMIT)
                await eldest.unspool(LIMIT)
                second.spool(LIMIT)
                tasks = [asyncio.create_task(wait) for wait in (second.unspool(LIMIT), second.may_begin())]
                await turns(5)
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
            second.give_back(memory=0, spooled=LIMIT)
            assert (in_flight.memory_bytes, in_flight.spooled_bytes) == (LIMIT, 0)

    run(steps)


def test_the_most_that_there_was_at_once_is_measured() -> None:
    RECORDER.drain()
    in_flight = InFlightBytes(LIMIT)
    with in_flight.record() as one, in_flight.record() as other:
        assert one.take(7)
        assert other.take(5)
        one.give_back(memory=7, spooled=0)
        other.spool(9)
    measurements = RECORDER.drain()
    assert measurements.level((MEMORY_HELD_PEAK.name, ())) == 12
    assert measurements.level((SPOOL_PEAK.name, ())) == 9


@given(
    pieces=st.lists(st.binary(min_size=1, max_size=9), max_size=12), inline=st.integers(0, 60), bound=st.integers(1, 60)
)
def test_a_body_is_whole_wherever_its_parts_were(pieces: list[bytes], inline: int, bound: int) -> None:
    in_flight = InFlightBytes(bound)
    files: list[BytesIO] = []

    def open_file() -> BytesIO:
        files.append(BytesIO())
        return files[-1]

    async def run() -> bytes:
        with in_flight.record() as holding:
            spool = Spool(holding, inline, open_file=open_file)
            for piece in pieces:
                spool.write(piece)
                assert in_flight.memory_bytes <= min(inline, bound)
                assert in_flight.memory_bytes + in_flight.spooled_bytes == len(spool)
            assert spool.at_hand == (in_flight.spooled_bytes == 0)
            whole = bytes(await spool.whole())
            assert (in_flight.memory_bytes, in_flight.spooled_bytes) == (len(whole), 0)
            return whole

    body = b"".join(pieces)
    assert asyncio.run(run()) == body
    assert (in_flight.memory_bytes, in_flight.spooled_bytes) == (0, 0)
    assert bool(files) == (len(body) > min(inline, bound))
    assert all(file.closed for file in files)


@given(st.integers(0, 30), st.booleans())
def test_a_body_that_is_discarded_holds_nothing(size: int, was_read: bool) -> None:
    in_flight = InFlightBytes(100)

    async def run() -> None:
        with in_flight.record() as holding:
            spool = Spool(holding, 10)
            for _ in range(size):
                spool.write(b"x")
            if was_read:
                await spool.whole()
            spool.discard()
            spool.discard()
            assert (len(spool), holding.memory_bytes, holding.spooled_bytes) == (0, 0, 0)

    asyncio.run(run())


def test_a_spool_file_is_a_temporary_one_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with unnamed_file() as file:
        file.write(b"x")
        assert not list(tmp_path.iterdir())
        assert os.fstat(file.fileno()).st_dev == tmp_path.stat().st_dev
