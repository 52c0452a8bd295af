"""A toxic: parameters that a person gives, and their effect on a listener while the toxic is there.

    Toxic (parameters, pydantic) ── effect(context) ──▶ StreamEffect   asked by listeners of layer `tcp`, chunk by chunk
                                                    ├─▶ StoreEffect    asked by listeners of layer `s3`, by request
                                                    └─▶ KafkaEffect    asked by listeners of layer `kafka`, by request

An effect may be asked at any time, also in the middle of a connection; when it has ended nothing asks it again.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from devkit.proxy.direction import Direction, Sense
from devkit.proxy.proof import ProxyProof

Layer = Literal["tcp", "s3", "kafka"]


@dataclass(frozen=True)
class ToxicContext:
    """`name` is what this use of the toxic draws by, `now` the moment it begins on the loop's clock, in seconds."""

    name: str
    seed: int
    sense: Sense
    now: float
    proof: ProxyProof


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes as they were read, or a piece of those; or the end of a stream in place of bytes.

    `number` counts the reads of one direction of one connection; `arrived` is on the loop's clock, in seconds.
    """

    connection: int
    direction: Direction
    number: int
    arrived: float
    data: bytes = b""
    end: Literal["fin", "rst"] | None = None

    def split(self, at: int) -> tuple["Chunk", "Chunk"]:
        """The first `at` bytes, and the rest; `arrived` is that of the whole for both."""
        return replace(self, data=self.data[:at]), replace(self, data=self.data[at:])


class Connection(Protocol):
    """An open connection, as a toxic can end or sever it."""

    number: int

    def close(self) -> int:
        """End both sides with FIN; returns how many held bytes were lost with that."""

    def reset(self) -> int:
        """End both sides with RST; returns how many held bytes were lost with that."""

    def sever(self, sense: Sense, proof: ProxyProof) -> None:
        """Close the receiver of that direction (of `both`: none) and swallow whatever comes from then on."""


class StreamEffect:
    """A toxic that acts on bytes; what is not overridden does nothing."""

    listening: bool = True
    """Whether the listener accepts connections."""
    piece_bytes: int | None = None
    """Chunks pass in pieces of at most that."""

    def begin(self, connections: Collection[Connection]) -> None:
        """The toxic begins; these are open."""

    def accepted(self, connection: Connection) -> None:
        """A client has connected."""

    def took(self, chunk: Chunk) -> None:
        """A chunk has come in, or was held when the toxic began. Called once for each, in order."""

    def ready_at(self, chunk: Chunk) -> float:
        """When the chunk at the head of its direction may go on, on the loop's clock; infinity while the toxic lasts.

        May be asked again for the same chunk.
        """
        return chunk.arrived

    def passed(self, chunk: Chunk) -> None:
        """The chunk has gone on."""

    def closed(self, connection: int) -> None:
        """The connection is over."""

    def end(self) -> None:
        """The toxic is taken away."""


class Toxic(BaseModel):
    """The parameters of a toxic. The docstring of a subclass says what it does to the data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: ClassVar[str]
    layer: ClassVar[Layer]


class StreamToxic(Toxic):
    """A toxic for listeners of layer `tcp`."""

    layer: ClassVar[Layer] = "tcp"

    @abstractmethod
    def effect(self, context: ToxicContext) -> StreamEffect:
        """A new one for each use of the toxic: it has state, and its own proof."""


def uniform(*parts: object) -> float:
    """A number in the open interval (0, 1), by the text of `parts` in their order, so that a run can be repeated."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return ((int.from_bytes(digest, "big") >> 11) + 0.5) / (1 << 53)
