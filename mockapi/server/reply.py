"""An answer before it is sent: status, headers, and a body that is held or made while it is sent.

A `Held` body is there already, so sending it can ask for its pieces in the event loop. A `Streamed` one is made piece
by piece, which may take a while each time: ask for its pieces in a thread. Both can be sent any number of times.

`decoded_bytes` is the length of the document, `wire_bytes` that of what leaves the server for it, content coding
included.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Protocol, Self

PIECE_BYTES: Final = 256 * 1024


class Body(Protocol):
    """The bytes of a reply."""

    @property
    def wire_bytes(self) -> int | None:
        """How many bytes `pieces` gives together; None when only the stream tells."""

    @property
    def decoded_bytes(self) -> int:
        """The length before a content coding."""

    @property
    def held(self) -> bool:
        """Whether asking for the next piece takes no time worth mentioning."""

    def pieces(self) -> Iterator[bytes]:
        """The bytes from the start, in pieces of 1 to PIECE_BYTES; the same ones on every call."""


@dataclass(frozen=True, slots=True, init=False)
class Held:
    """A body in memory."""

    held: ClassVar[bool] = True
    data: bytes
    decoded_bytes: int

    def __init__(self, data: bytes, decoded_bytes: int | None = None) -> None:
        """Without `decoded_bytes` the data are not encoded."""
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "decoded_bytes", len(data) if decoded_bytes is None else decoded_bytes)

    @property
    def wire_bytes(self) -> int:
        """Never None: all of the data are at hand."""
        return len(self.data)

    def pieces(self) -> Iterator[bytes]:
        """The data, cut only if they are long."""
        for start in range(0, len(self.data), PIECE_BYTES):
            yield self.data[start : start + PIECE_BYTES]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A body that `make` writes anew each time: in pieces of any length, an empty one too."""

    held: ClassVar[bool] = False
    make: Callable[[], Iterator[bytes]]
    wire_bytes: int | None
    decoded_bytes: int

    def pieces(self) -> Iterator[bytes]:
        """What `make` gives, none longer than PIECE_BYTES and none empty."""
        for piece in self.make():
            for start in range(0, len(piece), PIECE_BYTES):
                yield piece[start : start + PIECE_BYTES]


Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers in the order of the wire (names in lower case), and the body as encoded by them. `by_rule` is
    whether it is an error that the wiki gives because a rule wants it.
    """

    status: int
    headers: Headers
    body: Body
    by_rule: bool = False

    @classmethod
    def of(cls, status: int, headers: Headers, data: bytes) -> Self:
        """A reply whose body is there and not encoded."""
        return cls(status, headers, Held(data))

    @property
    def real_bytes(self) -> int:
        """The length of the body after decoding."""
        return self.body.decoded_bytes

    def header(self, name: bytes) -> str | None:
        """The value of a header (lower-case name), None when it is not there."""
        for key, value in self.headers:
            if key == name:
                return value.decode("latin-1")
        return None

    def with_headers(self, headers: Headers) -> Self:
        """With these headers (lower-case names) at the end, in place of all others of their names."""
        names = {name for name, _ in headers}
        return replace(self, headers=(*(item for item in self.headers if item[0] not in names), *headers))
