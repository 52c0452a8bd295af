"""The metrics as a page for Prometheus, on a port of the driver."""

import socket
from dataclasses import dataclass
from wsgiref.simple_server import WSGIServer

from prometheus_client import start_http_server
from prometheus_client.registry import Collector, CollectorRegistry

from pipeline.errors import RefusedError


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
        server, _thread = start_http_server(port, addr=host, registry=registry)
    except (OSError, socket.gaierror) as error:
        raise RefusedError(
            f"metrics.port: {host}:{port} cannot be served: {error.strerror or error}",
            hint="name another port, or 0 for a free one",
        ) from error
    return Endpoint(f"http://{host}:{server.server_port}/metrics", server)
