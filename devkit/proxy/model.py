"""The bodies of requests and responses of the control interface."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from devkit.proxy.direction import Sense
from devkit.proxy.proof import Counts
from devkit.proxy.toxics.registry import Do
from devkit.proxy.toxics.toxic import Layer
from located_config.duration import Duration

_ADDRESS = re.compile(r"(127\.\d+\.\d+\.\d+|localhost):(\d{1,5})", re.ASCII)


def _loopback(address: str) -> str:
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match[2]) < 65536:
        raise ValueError(f"{address!r} is not an address on loopback, write 127.0.0.1:9092")
    return address


Address = Annotated[str, AfterValidator(_loopback)]
"""`host:port`; the proxy reaches loopback and nothing else."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NewListener(_Strict):
    """Listen on `port` (0: a free one) for `upstream`, which need not be there yet."""

    name: str = Field(pattern=r"^[\w.-]+$")
    upstream: Address
    layer: Layer = "tcp"
    port: int = Field(default=0, ge=0, le=65535)


class ListenerState(_Strict):
    """`address` is where clients connect; `open` connections of `connections` so far. `listening` is False in a cut."""

    name: str
    layer: Layer
    address: str
    upstream: str
    listening: bool
    connections: int
    open: int


class NewToxic(_Strict):
    """`do` is a toxic by its key: `{latency: {time: 200ms}}`. After `ttl` it ends by itself.

    `direction` matters to the toxics that act on bytes. What they draw is a function of `seed`, of the order in which
    the toxic meets connections, and of the chunk; or of the request. Another use of a toxic that has a name of its own
    draws the same where both have the same `draws`, by default the name.
    """

    name: str = Field(min_length=1)
    do: Do
    direction: Sense = "both"
    ttl: Duration | None = None
    seed: int = 0
    draws: str | None = None


class ToxicState(_Strict):
    """A toxic and what it did; `ended_at` is None while it acts."""

    name: str
    do: Do
    direction: Sense
    began_at: datetime
    ended_at: datetime | None
    counts: Counts


class Refusal(BaseModel):
    """The body of an answer that is not a success."""

    error: str
    kind: Literal["unknown", "invalid", "taken"]
