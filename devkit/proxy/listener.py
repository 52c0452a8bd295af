"""The base of listeners of all layers: an address, and the toxics that act on it or did before."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from devkit.proxy.errors import TakenError, UnknownNameError, WrongLayerError
from devkit.proxy.model import ListenerState, NewListener, NewToxic, ToxicState
from devkit.proxy.port import Port
from devkit.proxy.proof import ProxyProof, utc_now
from devkit.proxy.toxics.toxic import ToxicContext

_ENDED_KEPT = 1000


@dataclass
class _Applied:
    """A toxic that acts; `end` takes its effect away."""

    new: NewToxic
    proof: ProxyProof
    began_at: datetime
    end: Callable[[], None]
    timer: asyncio.TimerHandle | None = None

    def state(self, ended_at: datetime | None = None) -> ToxicState:
        new = self.new
        return ToxicState(
            name=new.name,
            do=new.do,
            direction=new.direction,
            began_at=self.began_at,
            ended_at=ended_at,
            counts=self.proof.counts,
        )


class Listener(ABC):
    """Serves on `port` until it is closed."""

    def __init__(self, new: NewListener, port: Port) -> None:
        self.new = new
        self.port = port
        self._applied: dict[str, _Applied] = {}
        self._ended: deque[ToxicState] = deque(maxlen=_ENDED_KEPT)

    @property
    def upstream(self) -> tuple[str, int]:
        """Host and port to which clients are connected; the host is on loopback."""
        host, _, port = self.new.upstream.rpartition(":")
        return host, int(port)

    @property
    def state(self) -> ListenerState:
        """A copy as of now."""
        connections, open_now = self.connection_counts()
        return ListenerState(
            name=self.new.name,
            layer=self.new.layer,
            address=self.port.address,
            upstream=self.new.upstream,
            listening=self.port.listening,
            connections=connections,
            open=open_now,
        )

    @property
    def toxics(self) -> list[ToxicState]:
        """All toxics; those that have ended come first."""
        return [*self._ended, *(applied.state() for applied in self._applied.values())]

    async def add(self, new: NewToxic) -> ToxicState:
        """Begin a toxic; its effect is there when this returns. Raises RefusedError."""
        if new.name in self._applied:
            raise TakenError(f"a toxic {new.name!r} acts on {self.new.name!r} already")
        if new.do.layer != self.new.layer:
            raise WrongLayerError(
                f"{new.do.key} needs a listener of layer {new.do.layer}, {self.new.name!r} is one of {self.new.layer}"
            )
        proof = ProxyProof()
        loop = asyncio.get_running_loop()
        context = ToxicContext(new.draws or new.name, new.seed, new.direction, loop.time(), proof)
        applied = _Applied(new, proof, utc_now(), self.begin(new, context))
        self._applied[new.name] = applied
        if new.ttl is not None:
            applied.timer = loop.call_later(new.ttl.total_seconds(), self._expire, new.name)
        await self.port.listen(on=self.may_listen())
        return applied.state()

    async def remove(self, name: str) -> ToxicState:
        """End a toxic and return its counts; the same again for one that has ended. Raises UnknownNameError."""
        if name in self._applied:
            self._end(name)
            await self.port.listen(on=self.may_listen())
        for state in reversed(self._ended):
            if state.name == name:
                return state
        raise UnknownNameError(f"no toxic {name!r} on {self.new.name!r}")

    async def close(self) -> None:
        """Take all toxics away, then stop to listen and end what is open."""
        for name in tuple(self._applied):
            self._end(name)
        self.port.close()
        await self.end_connections()

    def _expire(self, name: str) -> None:
        self._end(name)
        self._listening = asyncio.ensure_future(self.port.listen(on=self.may_listen()))

    def _end(self, name: str) -> None:
        applied = self._applied.pop(name)
        if applied.timer is not None:
            applied.timer.cancel()
        applied.end()
        self._ended.append(applied.state(utc_now()))

    @abstractmethod
    def begin(self, new: NewToxic, context: ToxicContext) -> Callable[[], None]:
        """Let the toxic act; returns how to end it."""

    @abstractmethod
    def may_listen(self) -> bool:
        """Whether the toxics leave the port open."""

    @abstractmethod
    def connection_counts(self) -> tuple[int, int]:
        """Connections so far, and those of them that are open."""

    @abstractmethod
    async def end_connections(self) -> None:
        """End the open connections, and those still being made; bytes that are held are lost."""
