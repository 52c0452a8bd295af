"""A body some of whose bytes are no UTF-8, in the place of what was there."""

from collections.abc import Iterator
from dataclasses import dataclass

from mockapi.server.body import Body
from mockapi.server.delivery import BrokenText


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
