"""Addresses as the configuration has them: one that no client can use is refused before anything connects."""

import re
from urllib.parse import urlsplit

_SERVER = re.compile(r"(?:[A-Z_]+://)?(?:\[[0-9A-Fa-f:.%]+\]|[^\s:/\[\],]+):(\d{1,5})", re.ASCII)
_LAST_PORT = 65_535


def require_servers(value: str) -> str:
    """`host:port`, or several with commas between. Raises ValueError."""
    for one in value.split(","):
        match = _SERVER.fullmatch(one.strip())
        if match is None or not 0 < int(match[1]) <= _LAST_PORT:
            raise ValueError(f"{one.strip()!r} is no broker's address, write host:9092 (ports: 1 to {_LAST_PORT})")
    return value


def require_url(value: str) -> str:
    """An URL with a host, and a port that there can be. Raises ValueError."""
    parts = urlsplit(value)
    if not parts.hostname or parts.port == 0:
        raise ValueError("it needs a host, and a port above 0 if it has one")
    return value


def require_something(value: str) -> str:
    """Raises ValueError for a text with nothing in it."""
    if not value.strip():
        raise ValueError("it is empty")
    return value
