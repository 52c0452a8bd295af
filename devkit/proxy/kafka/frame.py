"""Kafka's frames: a length of four bytes, then a request or a response, which begins with its header."""

import asyncio
import struct
from dataclasses import dataclass
from typing import Final

LENGTH: Final = struct.Struct(">i")
LARGEST_BYTES: Final = 256 << 20
"""Kafka's own bounds are 100 MiB of a request, and `fetch.max.bytes` (50 MiB) and one record batch of a response."""
_HEAD: Final = struct.Struct(">hhih")
_API_VERSIONS: Final = 18


class FrameError(Exception):
    """Bytes that are no frame of Kafka's protocol, or a connection that ended within a frame."""


@dataclass(frozen=True)
class FrameHead:
    """The part of a request's header that every version has; the body begins after `client_id` and tagged fields."""

    api_key: int
    version: int
    correlation_id: int
    fields_end: int

    def body_start(self, frame: bytes, *, flexible: bool) -> int:
        """Where the body begins. Raises FrameError."""
        return _skip_tagged_fields(frame, self.fields_end) if flexible else self.fields_end


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """The next frame without its length; None when the connection ended before it. Raises FrameError."""
    try:
        head = await reader.readexactly(LENGTH.size)
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise FrameError("the connection ended within a frame's length") from error
    [length] = LENGTH.unpack(head)
    if not 0 <= length <= LARGEST_BYTES:
        raise FrameError(f"a frame of {length} bytes is not Kafka's; at most {LARGEST_BYTES} are read")
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise FrameError(f"the connection ended within a frame of {length} bytes") from error


def framed(frame: bytes) -> bytes:
    """As it is on the wire."""
    return LENGTH.pack(len(frame)) + frame


def parse_request_head(frame: bytes) -> FrameHead:
    """Raises FrameError."""
    if len(frame) < _HEAD.size:
        raise FrameError(f"a request of {len(frame)} bytes has no header")
    api_key, version, correlation_id, client_bytes = _HEAD.unpack_from(frame)
    end = _HEAD.size + max(client_bytes, 0)
    if end > len(frame):
        raise FrameError(f"client_id is {client_bytes} bytes long in a request of {len(frame)} bytes")
    return FrameHead(api_key, version, correlation_id, end)


def api_versions_request(correlation_id: int) -> bytes:
    """The smallest request that a broker always answers and that changes nothing: `ApiVersions` of version 0."""
    return _HEAD.pack(_API_VERSIONS, 0, correlation_id, -1)


def correlation_id_of(response: bytes) -> int:
    """Raises FrameError."""
    if len(response) < LENGTH.size:
        raise FrameError(f"a response of {len(response)} bytes has no header")
    return int(LENGTH.unpack_from(response)[0])


def response_head(correlation_id: int, *, flexible: bool) -> bytes:
    """The header of a response, without tagged fields."""
    return LENGTH.pack(correlation_id) + (b"\0" if flexible else b"")


def response_body_start(frame: bytes, *, flexible: bool) -> int:
    """Where the body of a response begins. Raises FrameError."""
    return _skip_tagged_fields(frame, LENGTH.size) if flexible else LENGTH.size


def _skip_tagged_fields(frame: bytes, position: int) -> int:
    count, position = _read_varint(frame, position)
    for _ in range(count):
        _, position = _read_varint(frame, position)
        length, position = _read_varint(frame, position)
        position += length
    if position > len(frame):
        raise FrameError("tagged fields are longer than their frame")
    return position


def _read_varint(frame: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(frame) and shift < 35:
        byte = frame[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise FrameError("a length of tagged fields does not end")
