"""Loopback ports for parts that need theirs at their start."""

import socket

from devkit.errors import StackError

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port without a listener now; a server that binds it may still lose a race, and starts again with another."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def claim_port(port: int | None, part: str) -> int:
    """`port` when it can be bound, a free one when it is None. Raises StackError that names the part."""
    if port is None:
        return free_port()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise StackError(
                f"port {port} for {part} cannot be used: {error.strerror}",
                hint="leave the option out for a free port, or end what listens there",
            ) from error
    return port
