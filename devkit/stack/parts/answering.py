"""Whether a part answers anything at all, asked at the address of its clients in the simplest words of its protocol."""

import socket
import struct
from datetime import timedelta
from urllib.parse import urlsplit

_API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)
_HTTP = b"GET / HTTP/1.0\r\n\r\n"


def answers(address: str, within: timedelta = timedelta(seconds=1)) -> bool:
    """`address` is a URL of something that speaks HTTP, or `host:port` (the first of a list) of a Kafka broker."""
    if "://" in address:
        url = urlsplit(address)
        host, port, words = url.hostname or "", url.port or 80, _HTTP
    else:
        host, _, number = address.split(",")[0].rpartition(":")
        port, words = int(number), struct.pack(">i", len(_API_VERSIONS)) + _API_VERSIONS
    try:
        with socket.create_connection((host, port), within.total_seconds()) as connection:
            connection.sendall(words)
            return bool(connection.recv(1))
    except OSError:
        return False
