"""The sending of an answer, which notices when the client disconnects.

    plain and short ── ASGI, at once
    all else        ── head ── wait ── body, piece by piece ── end        as far as the ending lets it, over a Channel

uvicorn drops what is sent to a client that has gone without telling; only `receive` shows it. So a long body goes out
in pieces while `receive` is watched, and the last piece counts as sent when the socket has taken it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from starlette.types import Receive, Send

from mockapi.server.channel import AsgiChannel, Channel, RawChannel, head_bytes, head_lines
from mockapi.server.delivery import AS_IT_IS, BytePlace, Delivery, Effect, Ending
from mockapi.server.disconnect_watch import DisconnectWatch
from mockapi.server.message import HttpMessage, length_of
from mockapi.server.pace import Steps, pace_of
from mockapi.server.reply import PIECE_BYTES, Body, Reply
from mockapi.server.wire import Wire


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent: `reply` is as much of status and headers, None for not even the status line; `wire_bytes` of the
    body were handed to the socket. `completed` is False when the client disconnected before the end or the answer
    was cut.
    """

    reply: Reply | None
    wire_bytes: int = 0
    completed: bool = False


NOTHING_SENT: Final = Sent(None)


async def send_message(
    message: HttpMessage, delivery: Delivery, *, wire: Wire | None, receive: Receive, send: Send
) -> Sent:
    """Sends `message` in the way of `delivery`. Without a wire it must be `well_formed`."""
    if wire is not None and message.chunked and delivery.ending is None and not wire.reads_chunks:
        # The end of the connection ends the body.
        message = replace(message, chunked=False, well_formed=False)
        wire.announce_end()
    elif wire is not None and message.reply.header(b"connection") == "close":
        wire.announce_end()
    if delivery is AS_IT_IS and (message.bodiless or _is_short(message.reply.body)):
        sent = await _send_at_once(message, wire, send)
    else:
        async with DisconnectWatch(receive, wire) as watch:
            sent = await _send_in_pieces(message, delivery, watch, wire, send)
    if wire is None:
        return sent
    if delivery.keep_alive is not None and wire.number >= delivery.keep_alive.answers:
        wire.finish()
    elif not sent.completed and wire.gone:
        # The server may not know yet, and would miss the rest of the answer.
        wire.finish()
    return sent


def _is_short(body: Body) -> bool:
    return body.held and body.wire_bytes is not None and body.wire_bytes <= PIECE_BYTES


async def _send_at_once(message: HttpMessage, wire: Wire | None, send: Send) -> Sent:
    if wire is not None and wire.gone:
        return NOTHING_SENT
    reply = message.reply
    data = b"" if message.bodiless else b"".join(reply.body.pieces())
    if wire is not None and not message.chunked:
        # The same bytes as from uvicorn, which checks and writes each header by itself.
        lines = head_lines(reply.status, (*wire.first_headers, *reply.headers, *wire.last_headers))
        answered = await wire.answer(head_bytes(lines), data)
        return Sent(reply, len(data), completed=True) if answered else NOTHING_SENT
    await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})
    await send({"type": "http.response.body", "body": data})
    return Sent(reply, len(data), completed=True)


async def _send_in_pieces(
    message: HttpMessage, delivery: Delivery, watch: DisconnectWatch, wire: Wire | None, send: Send
) -> Sent:
    if watch.disconnected:
        return NOTHING_SENT
    if message.well_formed or wire is None:
        return await _send_whole(message, delivery, AsgiChannel(send, wire), watch)
    channel = RawChannel(wire, chunked=message.chunked)
    if delivery.ending is None:
        return await _send_whole(message, delivery, channel, watch)
    return await _send_cut(message, delivery, delivery.ending, channel, watch)


async def _send_whole(message: HttpMessage, delivery: Delivery, channel: Channel, watch: DisconnectWatch) -> Sent:
    await channel.head(message.reply)
    sent = 0
    if not message.bodiless:
        if not await _wait_before_body(delivery, watch):
            return Sent(message.reply)
        sent, all_sent = await _send_body(message.reply.body, delivery, None, channel, watch)
        if not all_sent:
            return Sent(message.reply, sent)
        await channel.settled()
        if not await watch.wait(0.0):
            return Sent(message.reply, sent)
    await channel.end()
    return Sent(message.reply, sent, completed=True)


async def _send_cut(
    message: HttpMessage, delivery: Delivery, ending: Ending, channel: RawChannel, watch: DisconnectWatch
) -> Sent:
    sent = await _send_up_to(ending, message, delivery, channel, watch)
    if ending.then and not (message.bodiless and ending.place is BytePlace.IN_BODY):
        await channel.wire.write(ending.then)
    await channel.settled()
    if ending.reset:
        channel.wire.reset()
    else:
        channel.wire.finish()
    return sent


async def _send_up_to(
    ending: Ending, message: HttpMessage, delivery: Delivery, channel: RawChannel, watch: DisconnectWatch
) -> Sent:
    reply = message.reply
    match ending.place:
        case BytePlace.BEFORE_HEADERS:
            return NOTHING_SENT
        case BytePlace.IN_HEADERS:
            return Sent(_readable_head(reply, channel, await channel.part_of_head(reply, ending.offset)))
        case BytePlace.BEFORE_BODY:
            await channel.head(reply)
            await _wait_before_body(delivery, watch)
            nothing_due = message.bodiless or (not message.chunked and reply.body.wire_bytes == 0)
            return Sent(reply, completed=nothing_due and not ending.then)
        case BytePlace.IN_BODY:
            await channel.head(reply)
            if message.bodiless:
                return Sent(reply, completed=True)
            if not await _wait_before_body(delivery, watch):
                return Sent(reply)
            most = (
                ending.offset.within(await length_of(reply.body))
                if ending.offset.count is None
                else ending.offset.count
            )
            sent, all_sent = await _send_body(reply.body, delivery, most, channel, watch)
            whole = all_sent and not message.chunked and not ending.then and sent == await length_of(reply.body)
            return Sent(reply, sent, completed=whole)


def _readable_head(reply: Reply, channel: RawChannel, head_bytes: int) -> Reply | None:
    """What a client can make of the first `head_bytes`: the lines that are whole."""
    left = head_bytes
    whole = 0
    for line in channel.head_lines(reply):
        left -= len(line) + 2
        if left < 0:
            break
        whole += 1
    if not whole:
        return None
    own = max(0, whole - 1 - len(channel.wire.first_headers))
    return Reply(reply.status, reply.headers[:own], reply.body)


async def _wait_before_body(delivery: Delivery, watch: DisconnectWatch) -> bool:
    wait = delivery.before_body
    return await watch.wait(None if wait is None else wait.total_seconds())


async def _send_body(
    body: Body, delivery: Delivery, most: int | None, channel: Channel, watch: DisconnectWatch
) -> tuple[int, bool]:
    """Sends at most `most` bytes; how many it were, and whether the client was there to the end."""
    never_ends = delivery.through_body is None
    total = 0 if delivery.through_body == timedelta(0) else await length_of(body)
    if never_ends:
        most = max(0, min(total - 1, total if most is None else most))
    steps = Steps(pace_of(delivery, total), watch)
    sent = 0
    async for piece in _pieces(body, steps, most):
        if not await steps.wait(sent):
            return sent, False
        await channel.piece(piece)
        sent += len(piece)
    return sent, await watch.wait(None if never_ends else 0.0)


async def _pieces(body: Body, steps: Steps, most: int | None) -> AsyncIterator[bytes]:
    """The body in the pieces that `steps` has room for, up to `most` bytes."""
    source, given = body.pieces(), 0
    while (piece := await _next_piece(source, held=body.held)) is not None:
        begin = 0
        while begin < len(piece):
            room = steps.room(given) if most is None else min(steps.room(given), most - given)
            if room <= 0:
                return
            yield piece[begin : begin + room]
            taken = min(room, len(piece) - begin)
            begin, given = begin + taken, given + taken


async def _next_piece(pieces: Iterator[bytes], *, held: bool) -> bytes | None:
    return next(pieces, None) if held else await asyncio.to_thread(next, pieces, None)


def effects(delivery: Delivery, reply: Reply, message: HttpMessage, sent: Sent, *, number: int) -> tuple[Effect, ...]:
    """What `delivery` changed of `reply`, whose `message` was the `number`-th answer of its connection.

    A fault that matches and changes nothing has not acted: a charset that the answer has anyway, a cut behind its end.
    """
    changed = []
    if delivery.ending is not None and not sent.completed:
        changed.append(Effect.ENDING)
    if delivery.keep_alive is not None and number >= delivery.keep_alive.answers:
        changed.append(Effect.KEEP_ALIVE)
    if sent.reply is None:
        return tuple(changed)
    for effect, asked, header in (
        (Effect.CHARSET, delivery.charset, b"content-type"),
        (Effect.CODING, delivery.coding, b"content-encoding"),
        (Effect.LENGTH, delivery.length, b"content-length"),
    ):
        if asked is not None and message.reply.header(header) != reply.header(header):
            changed.append(effect)
    if not message.bodiless:
        changed += _body_effects(delivery, reply)
    return tuple(changed)


def _body_effects(delivery: Delivery, reply: Reply) -> list[Effect]:
    changed = []
    if delivery.broken is not None and reply.body.decoded_bytes:
        changed.append(Effect.TEXT)
    if delivery.before_body != timedelta(0):
        changed.append(Effect.WAIT)
    if _is_slowed(delivery, reply.body.decoded_bytes if reply.body.wire_bytes is None else reply.body.wire_bytes):
        changed.append(Effect.PACE)
    return changed


def _is_slowed(delivery: Delivery, total: int) -> bool:
    if delivery.through_body is None:
        return total > 0
    pace = pace_of(delivery, total)
    return pace is not None and total > (pace.step_bytes if pace.at_once else 0)
