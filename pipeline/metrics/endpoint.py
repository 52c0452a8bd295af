"""The metrics as a page for Prometheus, on a port of the driver.

A client may open connections and send nothing. Each has a thread of the driver, so there are few, which end when
nothing comes, and a new one takes the place of the one that has been there longest.
"""

import contextlib
import socket
import threading
from collections import deque
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app
from prometheus_client.registry import Collector, CollectorRegistry

from pipeline.errors import RefusedError

MOST_CONNECTIONS = 16
_SILENT_S = 10.0


class _Handler(WSGIRequestHandler):
    timeout = _SILENT_S

    def log_message(self, *_args: Any) -> None:
        """Scrapes are not logged."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128  # at 5, a scrape waits seconds behind those who connect faster than they are accepted

    def __init__(self, address: tuple[str, int], handler: type[WSGIRequestHandler]) -> None:
        # Of IPv4 or IPv6.
        self.address_family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        super().__init__(address, handler)
        self._open: deque[socket.socket] = deque()
        self._changing = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changing:
            if len(self._open) >= MOST_CONNECTIONS:
                # Its thread sees the end, and closes it.
                with contextlib.suppress(OSError):
                    self._open.popleft().shutdown(socket.SHUT_RDWR)
            self._open.append(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._changing, contextlib.suppress(ValueError):
            self._open.remove(request)
        super().shutdown_request(request)

    def handle_error(self, *_args: Any) -> None:
        """A client that has gone is none of the job's errors."""


@dataclass(frozen=True)
class Endpoint:
    """Serves until it is closed; `url` is where."""

    url: str
    _server: WSGIServer

    def close(self) -> None:
        """Frees the port; does not wait for a scrape that is under way."""
        self._server.shutdown()
        self._server.server_close()


def serve(collector: Collector, *, host: str, port: int) -> Endpoint:
    """Port 0 takes a free one. Raises RefusedError when the place is taken, or is not of this machine."""
    registry = CollectorRegistry()
    registry.register(collector)
    try:
        server = make_server(host, port, make_wsgi_app(registry), _Server, _Handler)
    except (OSError, socket.gaierror) as error:
        raise RefusedError(
            f"metrics.port: {host}:{port} cannot be served: {error.strerror or error}",
            hint="name another port, or 0 for a free one",
        ) from error
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return Endpoint(f"http://{host}:{server.server_port}/metrics", server)
