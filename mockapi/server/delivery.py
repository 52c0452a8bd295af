"""What the rules want of an answer's bytes."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, StrEnum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Offset:
    """A place in a run of bytes: after a number of them, or after a `share` of them, from 0 to 1."""

    count: int | None = None
    share: float | None = None

    def within(self, total: int) -> int:
        """The number of bytes before the place; at most `total`."""
        if self.count is not None:
            return min(self.count, total)
        return int((self.share or 0.0) * total)


HALF = Offset(share=0.5)


class Effect(StrEnum):
    """What a fault can change of an answer; several faults share the ways to end one and to slow one."""

    ERROR = "error"
    BODY = "body"
    CHARSET = "charset"
    CODING = "content_encoding"
    LENGTH = "content_length"
    TEXT = "invalid_utf8"
    WAIT = "latency_before_body"
    PACE = "pace"
    ENDING = "ending"
    KEEP_ALIVE = "keep_alive"


class BytePlace(Enum):
    """Up to where an answer goes out."""

    BEFORE_HEADERS = "before headers"
    IN_HEADERS = "in headers"
    BEFORE_BODY = "before body"
    IN_BODY = "in body"


@dataclass(frozen=True, slots=True)
class Ending:
    """An answer that does not end as it should: it goes out up to `place`, within headers or body up to `offset`.

    `then` follows, and the connection ends with FIN or, with `reset`, RST. `chunked` says how the body is framed: None
    for as the answer is, False for with its Content-Length.
    """

    place: BytePlace
    offset: Offset = HALF
    then: bytes = b""
    reset: bool = False
    chunked: bool | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """`step_bytes` every `every_s` seconds, the first ones `at_once` or after that time."""

    step_bytes: int
    every_s: float
    at_once: bool = True


@dataclass(frozen=True, slots=True)
class Length:
    """What Content-Length says: another length, or the true one and a number of bytes more."""

    says: Literal["compressed", "decoded", "absent", "negative", "off by"]
    off_by: int = 0


@dataclass(frozen=True, slots=True)
class BrokenText:
    """A number of bytes at a place of the document that are no UTF-8."""

    count: int
    at: Offset


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """How many answers a connection carries, and whether the last one says that it is."""

    answers: int
    announced: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """As the default, nothing happens to them.

    `before_body` passes between the headers and the first byte of the body, `through_body` from that to the last; None
    is for ever. `pace` is the other way to slow a body. `coding` and `charset` are what the headers say, whatever the
    bytes are; empty for nothing. `hang` is the name of the rule under which there is no answer at all.
    """

    before_body: timedelta | None = timedelta(0)
    through_body: timedelta | None = timedelta(0)
    pace: Pace | None = None
    length: Length | None = None
    coding: str | None = None
    charset: str | None = None
    broken: BrokenText | None = None
    ending: Ending | None = None
    keep_alive: KeepAlive | None = None
    hang: str | None = None

    @property
    def plain(self) -> bool:
        """Whether the answer must be made without a content coding."""
        return self.broken is not None or (self.length is not None and self.length.says == "compressed")


AS_IT_IS = Delivery()
"""Nothing happens to the bytes."""
