"""Ports: every part of a stack listens on loopback, and the others connect to it."""

import socket

from devkit.doctor.finding import MachineFinding

_LOOPBACK = "127.0.0.1"


def check_ports(address: str = _LOOPBACK) -> MachineFinding:
    """Binds a free port of ``address`` and connects to it."""
    try:
        with socket.create_server((address, 0)) as server, socket.create_connection(server.getsockname(), timeout=5):
            return MachineFinding("ports", "ok", f"{address} can be bound and reached")
    except OSError as error:
        return MachineFinding(
            "ports",
            "fail",
            f"{address} cannot be bound and reached: {error}",
            "a sandbox or firewall forbids local servers; allow loopback",
        )
