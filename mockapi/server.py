"""Runs the application under uvicorn: says when it is ready, and ends at once when told to."""

import logging
import socket
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mockapi.app import Network, create_app
from mockapi.errors import AddressError
from mockapi.world import Worlds

# Above what idle clients keep a connection for, so that it is never the mock that closes one under a request.
_KEEP_ALIVE_SECONDS: Final = 75
_BACKLOG: Final = 2048


def bind(host: str, port: int) -> socket.socket:
    """A listening address; port 0 takes a free one. Raises AddressError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Listening now makes a second server on the port fail here, and not later in uvicorn.
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise AddressError(
            f"cannot listen on {host}:{port}: {error}; choose another --port, or 0 for a free one"
        ) from None
    return listener


def serve(worlds: Worlds, listener: socket.socket, control_networks: Sequence[Network] = ()) -> None:
    """Serves until SIGTERM or SIGINT; the connections of requests in flight are reset then."""
    config = uvicorn.Config(
        create_app(worlds, control_networks),
        loop="auto",  # uvloop where it exists
        http=_AbortingProtocol,
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=0,
    )
    _AnnouncingServer(config).run(sockets=[listener])


class _AbortingProtocol(HttpToolsProtocol):
    def shutdown(self) -> None:
        # uvicorn would wait for the request and then answer 500. To a client, a mock that ends is a peer that is gone.
        self.transport.abort()


class _AnnouncingServer(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            sys.stdout.write(f"mockapi ready on http://{f'[{host}]' if ':' in host else host}:{port}\n")
            sys.stdout.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # What still runs is cancelled on purpose; uvicorn would print a traceback for each request.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        super().handle_exit(sig, frame)
