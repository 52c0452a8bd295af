"""Whether a part answers at all: the smallest request of its protocol is sent to the address of its clients."""

import contextlib
import socket
import struct
from datetime import timedelta
from urllib.parse import urlsplit

_API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)
_HTTP = b"GET / HTTP/1.0\r\n\r\n"


def answers(address: str, within: timedelta = timedelta(seconds=1)) -> bool:
    """`address` is a URL of something that speaks HTTP, or `host:port` (the first of a list) of a Kafka broker."""
    server, request = _server_and_request(address)
    try:
        with socket.create_connection(server, within.total_seconds()) as connection:
            connection.sendall(request)
            return bool(connection.recv(1))
    except OSError:
        return False


class LivenessProbe:
    """The same without waiting: `is_answered` looks once whether an answer has come, and closes the connection.

    A system accepts connections for a process that stands still, so asking takes no time there either.
    """

    def __init__(self, address: str) -> None:
        server, request = _server_and_request(address)
        self._connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._connection.setblocking(False)
        with contextlib.suppress(OSError):  # a part that cannot be reached does not answer
            self._connection.connect_ex(server)
            self._connection.sendall(request)

    def is_answered(self) -> bool:
        """False also when the connection was refused, reset, or closed without an answer. Ask once."""
        with self._connection:
            try:
                return bool(self._connection.recv(1))
            except OSError:
                return False


def _server_and_request(address: str) -> tuple[tuple[str, int], bytes]:
    if "://" in address:
        url = urlsplit(address)
        return (url.hostname or "", url.port or 80), _HTTP
    host, _, number = address.split(",")[0].rpartition(":")
    return (host, int(number)), struct.pack(">i", len(_API_VERSIONS)) + _API_VERSIONS
