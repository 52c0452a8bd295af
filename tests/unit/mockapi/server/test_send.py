import asyncio
from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from mockapi.server.delivery import AS_IT_IS, Delivery, Pace
from mockapi.server.disconnect_watch import DisconnectWatch, GivenUp, await_answer
from mockapi.server.message import UNABLE, message, needs_wire
from mockapi.server.pace import PIECE_BYTES, Steps, pace_of
from mockapi.server.reply import Held, Reply, Streamed
from mockapi.server.send import Sent, send_message
from tests.unit.mockapi.faults.planned import delivery

LONG = b"x" * (3 * PIECE_BYTES * 4)
LONG_TIME = timedelta(hours=1)


class Client:
    """Takes what is sent; leaves after `patience_bytes` of the body."""

    def __init__(self, patience_bytes: int | None = None) -> None:
        self.sent: list[MutableMapping[str, Any]] = []
        self.body = b""
        self.began = asyncio.Event()
        self._patience_bytes = patience_bytes
        self.left = asyncio.Event()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.sent.append(message)
        self.began.set()
        self.body += message.get("body", b"")
        if self._patience_bytes is not None and len(self.body) >= self._patience_bytes:
            self.left.set()

    async def receive(self) -> MutableMapping[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}


def reply(data: bytes) -> Reply:
    return Reply.of(200, ((b"content-length", str(len(data)).encode()),), data)


def play(reply: Reply, how: Delivery, *, head_only: bool = False, patience: int | None = None) -> tuple[Sent, Client]:
    async def run() -> tuple[Sent, Client]:
        client = Client(patience)
        response = await message(reply, how, head_only=head_only)
        return await send_message(response, how, wire=None, receive=client.receive, send=client.send), client

    return asyncio.run(run())


def test_a_short_body_leaves_at_once() -> None:
    sent, client = play(reply(b"page"), AS_IT_IS)
    assert (sent.wire_bytes, sent.completed, client.body) == (4, True, b"page")
    assert [event["type"] for event in client.sent] == ["http.response.start", "http.response.body"]


def test_a_head_has_no_body() -> None:
    sent, client = play(reply(b"page"), AS_IT_IS, head_only=True)
    assert (sent.wire_bytes, sent.completed, client.body) == (0, True, b"")
    paced, client = play(reply(b"page"), delivery({"bandwidth": 1}), head_only=True)
    assert (paced.wire_bytes, paced.completed, client.body) == (0, True, b"")


@pytest.mark.parametrize("held", [True, False])
def test_a_long_body_leaves_in_pieces(held: bool) -> None:
    body = Held(LONG) if held else Streamed(lambda: iter([LONG, b""]), len(LONG), len(LONG))
    sent, client = play(Reply(200, ((b"content-length", str(len(LONG)).encode()),), body), AS_IT_IS)
    assert (sent.wire_bytes, sent.completed) == (len(LONG), True)
    assert client.body == LONG
    assert max(len(event.get("body", b"")) for event in client.sent) == PIECE_BYTES


def test_who_leaves_gets_no_more() -> None:
    sent, client = play(reply(LONG), AS_IT_IS, patience=PIECE_BYTES)
    assert not sent.completed
    assert sent.wire_bytes == len(client.body) < len(LONG)


def test_a_body_without_bytes_in_pieces() -> None:
    sent, client = play(Reply(200, (), Streamed(lambda: iter([]), None, 0)), AS_IT_IS)
    assert (sent.wire_bytes, sent.completed, client.body) == (0, True, b"")


def test_dribbled_pieces_are_the_body() -> None:
    sent, client = play(reply(b"0123456789"), delivery({"dribble": {"bytes": 4, "every": "1ms"}}))
    assert (sent.completed, client.body) == (True, b"0123456789")
    assert [event["body"] for event in client.sent if event.get("body")] == [b"0123", b"4567", b"89"]


@pytest.mark.parametrize("do", [{"latency_before_body": "never"}, {"latency_through_body": "never"}])
def test_what_never_ends_is_waited_for_until_the_client_leaves(do: dict[str, Any]) -> None:
    async def run() -> tuple[Sent, bytes]:
        client = Client()
        response = await message(reply(b"ab"), delivery(do), head_only=False)
        sending = asyncio.create_task(
            send_message(response, delivery(do), wire=None, receive=client.receive, send=client.send)
        )
        await client.began.wait()
        client.left.set()
        return await sending, client.body

    sent, body = asyncio.run(run())
    assert not sent.completed
    assert sent.wire_bytes == len(body) < 2


@pytest.mark.parametrize(
    ("do", "needs"),
    [
        ({"content_length": "negative"}, True),
        ({"reset": {}}, True),
        ({"hang": True}, True),
        ({"keep_alive": 1}, True),
        ({"keep_alive": {"requests": 1, "announce": True}}, False),
        ({"bandwidth": 1}, False),
        ({"charset": "none"}, False),
    ],
)
def test_what_asgi_cannot_send(do: dict[str, Any], needs: bool) -> None:
    response = asyncio.run(message(reply(b"page"), delivery(do), head_only=False))
    assert needs_wire(response, delivery(do)) is needs
    assert UNABLE.reply.status == 501


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


class LeavingClient:
    """The other end; leaves when it is told to."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def receive(self) -> MutableMapping[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


async def soon() -> str:
    await asyncio.sleep(0)
    return "answer"


class Never:
    """Work that has no end; remembers that it was cancelled."""

    def __init__(self) -> None:
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

    async def work(self) -> str:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        return ""


@pytest.mark.parametrize("within", [None, LONG_TIME])
def test_an_answer_that_comes_is_given(within: timedelta | None) -> None:
    assert asyncio.run(await_answer(soon(), LeavingClient().receive, within=within)) == "answer"


@pytest.mark.parametrize("within", [None, LONG_TIME])
def test_a_client_that_leaves_ends_the_work(within: timedelta | None) -> None:
    async def leave() -> GivenUp | str:
        client, never = LeavingClient(), Never()
        waiting = asyncio.create_task(await_answer(never.work(), client.receive, within=within))
        client.gone.set()
        ended = await waiting
        await asyncio.wait_for(never.cancelled.wait(), 10)
        return ended

    assert asyncio.run(leave()) is GivenUp.CLIENT


def test_a_proxy_gives_up_after_its_time() -> None:
    async def give_up() -> GivenUp | str:
        never = Never()
        ended = await await_answer(never.work(), LeavingClient().receive, within=timedelta(milliseconds=1))
        await asyncio.wait_for(never.cancelled.wait(), 10)
        return ended

    assert asyncio.run(give_up()) is GivenUp.PROXY


def test_cancelling_it_cancels_both_sides() -> None:
    async def cancel() -> bool:
        client, never = LeavingClient(), Never()
        waiting = asyncio.create_task(await_answer(never.work(), client.receive, within=LONG_TIME))
        await asyncio.wait_for(never.begun.wait(), 10)
        sides = asyncio.all_tasks() - {waiting, asyncio.current_task()}
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        ended, others = await asyncio.wait(sides, timeout=10)
        return not others and all(side.cancelled() for side in ended)

    assert asyncio.run(cancel())


def test_an_error_of_the_work_comes_through() -> None:
    async def fails() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(await_answer(fails(), LeavingClient().receive, within=None))


def test_a_client_that_stays_is_waited_for() -> None:
    async def stay() -> tuple[bool, bool, bool]:
        async with DisconnectWatch(LeavingClient().receive, None) as watch:
            return await watch.wait(0.0), await watch.wait(0.001), watch.disconnected

    assert asyncio.run(stay()) == (True, True, False)


def test_a_client_that_leaves_is_not() -> None:
    async def leave() -> tuple[bool, bool]:
        client = LeavingClient()
        async with DisconnectWatch(client.receive, None) as watch:
            waiting = asyncio.create_task(watch.wait(None))
            await asyncio.sleep(0)
            client.gone.set()
            return await waiting, watch.disconnected

    assert asyncio.run(leave()) == (False, True)
