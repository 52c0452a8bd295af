"""An answer before it is sent."""

from dataclasses import dataclass
from typing import Self

from mockapi.server.body import Body, Held

Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers in the order of the wire (names in lower case), and the body as encoded by them."""

    status: int
    headers: Headers
    body: Body

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
