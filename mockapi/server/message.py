"""An answer as it is to leave: its reply with what the rules make of headers and bytes, and how the body is framed.

    reply ── charset, broken text, coding, length, ending ──> Message(reply, chunked, well_formed)

A message that is `well_formed` can be sent by any server. The others need the bare connection.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from mockapi.server.delivery import BrokenText, Delivery, Ending, Length
from mockapi.server.reply import Body, Reply
from mockapi.wiki.pages.coding import encoded


@dataclass(frozen=True, slots=True)
class Broken:
    """`body`, not encoded, with bytes of 0xFF; its length is the same."""

    body: Body
    broken: BrokenText

    @property
    def wire_bytes(self) -> int | None:
        """A byte replaces a byte, so the length stays."""
        return self.body.wire_bytes

    @property
    def decoded_bytes(self) -> int:
        """A byte replaces a byte, so the length stays."""
        return self.body.decoded_bytes

    @property
    def held(self) -> bool:
        """Whether the body below is; breaking it takes no time."""
        return self.body.held

    def pieces(self) -> Iterator[bytes]:
        """The same pieces, of which one or more are broken. What would lie beyond the end lies before it instead."""
        total = self.body.decoded_bytes
        first = max(0, min(self.broken.at.within(total), total - self.broken.count))
        end = first + self.broken.count
        begin = 0
        for piece in self.body.pieces():
            low, high = max(first - begin, 0), min(end - begin, len(piece))
            yield piece[:low] + b"\xff" * (high - low) + piece[high:] if low < high else piece
            begin += len(piece)


_BODILESS: Final = frozenset({204, 304})
_LENGTH: Final = b"content-length"
_CODING: Final = b"content-encoding"
_TYPE: Final = b"content-type"
_STEP_PIECES: Final = 8  # 2 MiB: a tenth of a second of gzip


@dataclass(frozen=True, slots=True)
class HttpMessage:
    """`head_only` is the answer to a HEAD, `bodiless` any that has headers only, whatever they say. `chunked` is how
    the body is framed if not by a length. `well_formed` is whether headers and framing fit the body and the answer ends
    as it should.
    """

    reply: Reply
    head_only: bool
    bodiless: bool
    chunked: bool
    well_formed: bool


async def message(reply: Reply, delivery: Delivery, *, head_only: bool, number: int = 1) -> HttpMessage:
    """`reply` as `delivery` wants it; `number` is that of the request on its connection."""
    bodiless = head_only or reply.status in _BODILESS
    reply = _tampered(reply, delivery)
    if delivery.keep_alive is not None and delivery.keep_alive.announced and number >= delivery.keep_alive.answers:
        reply = _with(reply, b"connection", b"close")
    if delivery.length is not None:
        reply = await _mismeasured(reply, delivery.length)
    if delivery.ending is not None:
        reply = await _framed(reply, delivery.ending, bodiless=bodiless)
    chunked = _chunked(reply, bodiless=bodiless)
    well_formed = delivery.ending is None and (bodiless or chunked or _says(reply, reply.body.wire_bytes))
    return HttpMessage(reply, head_only, bodiless, chunked, well_formed)


def as_it_is(reply: Reply, *, head_only: bool) -> HttpMessage:
    """Well-formed; without a body for HEAD and for statuses that have none."""
    bodiless = head_only or reply.status in _BODILESS
    return HttpMessage(reply, head_only, bodiless, _chunked(reply, bodiless=bodiless), well_formed=True)


async def length_of(body: Body) -> int:
    """How many bytes the body has on the wire; one of unknown length is made for that."""
    if body.wire_bytes is not None:
        return body.wire_bytes
    return await _measured(body.pieces())


async def _measured(pieces: Iterator[bytes]) -> int:
    """How many bytes they are together. A thread is taken for a few of them at a time: another request that needs one
    gets a turn, and who cancels this, as the end of the server does, waits for a step and not for a GiB.
    """
    total = 0
    while lengths := await asyncio.to_thread(_lengths, pieces):
        total += sum(lengths)
    return total


def _lengths(pieces: Iterator[bytes]) -> list[int]:
    return [len(piece) for piece in islice(pieces, _STEP_PIECES)]


def _chunked(reply: Reply, *, bodiless: bool) -> bool:
    return not bodiless and reply.header(_LENGTH) is None


def _says(reply: Reply, length: int | None) -> bool:
    return reply.header(_LENGTH) == str(length)


def _tampered(reply: Reply, delivery: Delivery) -> Reply:
    if delivery.broken is not None:
        reply = replace(reply, body=Broken(reply.body, delivery.broken))
    if delivery.charset is not None:
        reply = _with_charset(reply, delivery.charset)
    if delivery.coding is not None:
        reply = _with(reply, _CODING, delivery.coding.encode() or None)
    return reply


def _with_charset(reply: Reply, charset: str) -> Reply:
    header = reply.header(_TYPE)
    if header is None:
        return reply
    kind, *parameters = (part.strip() for part in header.split(";"))
    others = [part for part in parameters if not part.lower().startswith("charset=")]
    named = [f"charset={charset}"] if charset else []
    return _with(reply, _TYPE, "; ".join([kind, *named, *others]).encode("latin-1"))


async def _mismeasured(reply: Reply, length: Length) -> Reply:
    body = reply.body
    match length.says:
        case "absent":
            return _with(reply, _LENGTH, None)
        case "negative":
            claimed = -1
        case "decoded":
            claimed = body.decoded_bytes
        case "compressed":
            claimed = await _measured(encoded("gzip", body.pieces()))
        case "off by":
            claimed = max(0, await length_of(body) + length.off_by)
    return _with(reply, _LENGTH, str(claimed).encode())


async def _framed(reply: Reply, ending: Ending, *, bodiless: bool) -> Reply:
    if ending.chunked is None or bodiless:
        return reply
    if ending.chunked:
        return _with(reply, _LENGTH, None)
    if reply.header(_LENGTH) is not None:
        return reply
    return _with(reply, _LENGTH, str(await length_of(reply.body)).encode())


def _with(reply: Reply, name: bytes, value: bytes | None) -> Reply:
    """The header in its place with another value, or at the end; without it for None."""
    headers = reply.headers
    if value is None:
        headers = tuple(header for header in headers if header[0] != name)
    elif any(header[0] == name for header in headers):
        headers = tuple((name, value) if header[0] == name else header for header in headers)
    else:
        headers = (*headers, (name, value))
    return replace(reply, headers=headers)


_WORDS: Final = (
    b"a fault of this rule needs the bare connection; run the mock by `python -m mockapi`, not under ASGI alone\n"
)

UNABLE: Final = as_it_is(
    Reply.of(501, ((b"content-type", b"text/plain"), (b"content-length", str(len(_WORDS)).encode())), _WORDS),
    head_only=False,
)


def needs_wire(message: HttpMessage, delivery: Delivery) -> bool:
    """Whether ASGI cannot send `message` in the way of `delivery`."""
    ends_silently = delivery.keep_alive is not None and not delivery.keep_alive.announced
    return not message.well_formed or ends_silently or delivery.hang is not None
