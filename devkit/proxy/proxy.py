"""All listeners of the process, by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from devkit.proxy.errors import TakenError, UnknownNameError
from devkit.proxy.kafka.listener import KafkaListener
from devkit.proxy.listener import Listener
from devkit.proxy.model import NewListener
from devkit.proxy.s3.listener import S3Listener
from devkit.proxy.tcp.listener import TcpListener
from devkit.proxy.toxics.toxic import Layer

_LISTENERS: Final[Mapping[Layer, Callable[[NewListener], Listener]]] = MappingProxyType(
    {"tcp": TcpListener, "s3": S3Listener, "kafka": KafkaListener}
)


class Proxy:
    """The listeners of this process; the control interface drives it."""

    def __init__(self) -> None:
        self._listeners: dict[str, Listener] = {}

    @property
    def listeners(self) -> list[Listener]:
        """In the order in which they were added."""
        return list(self._listeners.values())

    def listener(self, name: str) -> Listener:
        """Raises UnknownNameError, which lists those there are."""
        if name not in self._listeners:
            names = ", ".join(self._listeners) or "none"
            raise UnknownNameError(f"no listener {name!r}, there are: {names}")
        return self._listeners[name]

    async def listen(self, new: NewListener) -> Listener:
        """Accept connections for an upstream. Raises TakenError."""
        if new.name in self._listeners:
            raise TakenError(f"there is a listener {new.name!r} already")
        listener = _LISTENERS[new.layer](new)
        self._listeners[new.name] = listener
        await listener.port.listen(on=True)
        return listener

    async def close(self, name: str) -> None:
        """Frees its name at once, then ends its toxics and connections. Raises UnknownNameError."""
        listener = self.listener(name)
        del self._listeners[name]
        await listener.close()

    async def close_all(self) -> None:
        """For the end of the process: each in turn, with its connections."""
        for name in tuple(self._listeners):
            await self.close(name)
