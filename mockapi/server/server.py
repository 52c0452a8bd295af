"""Runs the application under uvicorn: says when it is ready, and ends at once when told to."""

import asyncio
import errno
import logging
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mockapi.control.access import LOOPBACK, Access
from mockapi.control.control_app import is_control
from mockapi.errors import AddressError
from mockapi.server.app import create_app
from mockapi.server.listeners import BACKLOG, Listeners, RefusalWatch
from mockapi.server.wire import WireProtocol, wire_of
from mockapi.world import Worlds

# Above what idle clients keep a connection for, so that it is never the mock that closes one under a request.
_KEEP_ALIVE_SECONDS: Final = 75


def bind(host: str, port: int) -> socket.socket:
    """A listening address; port 0 takes a free one. Raises AddressError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Listening now makes a second server on the port fail here, and not later in uvicorn.
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        elsewhere = isinstance(error, socket.gaierror) or getattr(error, "errno", None) == errno.EADDRNOTAVAIL
        remedy = "give --host an address of this machine" if elsewhere else "choose another --port, or 0 for a free one"
        reason = getattr(error, "strerror", None) or error
        raise AddressError(f"cannot listen on {host}:{port}: {reason}; {remedy}") from None
    return listener


def serve(worlds: Worlds, listener: socket.socket, access: Access = LOOPBACK) -> None:
    """Serves until SIGTERM or SIGINT; the connections of requests in flight are reset then."""
    app = _Followed(create_app(worlds, access))
    config = uvicorn.Config(
        app,
        loop="auto",  # uvloop where it exists
        http=WireProtocol,
        proxy_headers=False,  # a client is who it is
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=0,
    )
    server = _AnnouncingServer(config, worlds)
    app.follow = server.follow
    server.run(sockets=[listener])


class _Followed:
    """Lets `follow` catch up before the control answers, so that a change holds when its answer is there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.follow: Callable[[], Awaitable[None]] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_control(scope["path"]):
            await self._app(scope, receive, send)
            return

        wire = wire_of(scope)

        async def send_up_to_date(message: Message) -> None:
            if message["type"] == "http.response.start" and self.follow is not None:
                await self.follow()
            if wire is not None and wire.gone:
                wire.finish()
            else:
                await send(message)

        await self._app(scope, receive, send_up_to_date)


class _AnnouncingServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, worlds: Worlds) -> None:
        super().__init__(config)
        self._worlds = worlds
        self._refusal = RefusalWatch(lambda: worlds.current.rulebook.effective, time.monotonic)
        self._listeners: Listeners | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._worlds.current.begin()
        self._listeners = Listeners(self.servers, sockets or (), self._protocol)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            sys.stdout.write(f"mockapi ready on http://{f'[{host}]' if ':' in host else host}:{port}\n")
            sys.stdout.flush()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        await self.follow()
        return await super().on_tick(counter)

    async def follow(self) -> None:
        """Listens, or does not, as the rules say by now."""
        if self._listeners is not None:
            await self._listeners.listen(on=not self._refusal.refuses())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._listeners is not None:
            self._listeners.release()
        await super().shutdown(sockets=sockets)

    def _protocol(self) -> asyncio.Protocol:
        return WireProtocol(self.config, self.server_state, self.lifespan.state)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # What still runs is cancelled on purpose; uvicorn would print a traceback for each request.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        super().handle_exit(sig, frame)
