import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from mockapi.server.delivery import AS_IT_IS, Delivery, Pace
from mockapi.server.disconnect_watch import DisconnectWatch
from mockapi.server.pace import PIECE_BYTES, Steps, pace_of


@given(st.integers(0, 1 << 30), st.floats(0.001, 10_000))
def test_a_body_spread_over_a_time_ends_with_it(total: int, seconds: float) -> None:
    spread = timedelta(seconds=seconds)
    pace = pace_of(Delivery(through_body=spread), total)
    if pace is None:
        assert total < 2
        return
    gaps = -(-total // pace.step_bytes) - 1
    assert gaps * pace.every_s == pytest.approx(spread.total_seconds())
    assert gaps <= seconds / 0.25 + 1


def test_for_ever_is_a_byte_a_second() -> None:
    assert pace_of(Delivery(through_body=None), 5) == Pace(1, 1.0)


def test_a_pace_or_none() -> None:
    assert pace_of(AS_IT_IS, 5) is None
    assert pace_of(Delivery(pace=Pace(3, 2.0)), 5) == Pace(3, 2.0)


def following(pace: Pace | None) -> Steps:
    return Steps(pace, DisconnectWatch(never, None))


async def never() -> Message:
    await asyncio.Event().wait()
    return {}


async def rooms(pace: Pace | None, *sent: int) -> list[int]:
    steps = following(pace)
    return [steps.room(count) for count in sent]


def test_how_much_may_leave_next() -> None:
    assert asyncio.run(rooms(None, 0, 5)) == [PIECE_BYTES, PIECE_BYTES]
    assert asyncio.run(rooms(Pace(10, 1.0), 0, 4, 10)) == [10, 6, 10]
    assert asyncio.run(rooms(Pace(PIECE_BYTES + 1, 1.0), 0, PIECE_BYTES)) == [PIECE_BYTES, 1]


def test_steps_wait_only_where_one_ends() -> None:
    async def first() -> list[bool]:
        async with DisconnectWatch(never, None) as watch:
            steps = Steps(Pace(10, 3600.0), watch)
            return [await steps.wait(0), await steps.wait(4)]

    assert asyncio.run(first()) == [True, True]
