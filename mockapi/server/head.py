"""Status line and headers as bytes."""

import http
from collections.abc import Iterable
from typing import Final

_PHRASES: Final = {status.value: status.phrase for status in http.HTTPStatus}
_STATUS_LINES: Final = {code: f"HTTP/1.1 {code} {_PHRASES.get(code, '')}".encode() for code in range(100, 600)}


def head_lines(status: int, headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, ...]:
    """Status line and headers in their order, without line ends."""
    return (_STATUS_LINES[status], *map(b": ".join, headers))


def head_bytes(lines: tuple[bytes, ...]) -> bytes:
    """The head with the empty line that ends it. Raises ValueError for a header that would be more than one line."""
    head = b"\r\n".join((*lines, b"", b""))
    if head.count(b"\n") != len(lines) + 1 or head.count(b"\r") != len(lines) + 1:
        raise ValueError(f"a line end within a header: {head!r}")
    return head
