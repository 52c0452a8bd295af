"""The proxy's process between a client and a server that both say nothing: what each of them is told by a fault.

Checked on the sockets: FIN, RST or nothing, of an idle connection, when the fault begins and when it ends; and that the
proxy forgets the connection when both are told.
"""

import select
import socket
from collections.abc import Iterator
from datetime import timedelta

import pytest

from devkit.proxy.direction import Sense
from devkit.proxy.toxics.cut import Cut
from devkit.proxy.toxics.half_open import HalfOpen
from devkit.proxy.toxics.reset import Reset
from devkit.proxy.toxics.toxic import Toxic
from devkit.stack.front import Front
from devkit.waiting import wait_until

ROOMS = ("devkit/proxy",)
DEADLINE = timedelta(seconds=30)
NOTHING, FIN, RST = "nothing", "fin", "rst"
PART = "mock-api"
Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair(front: Front) -> Iterator[Pair]:
    """A client's socket and the server's, with the proxy between them."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(DEADLINE.total_seconds())
        host, _, port = front.lead(PART, "127.0.0.1:{1}".format(*server.getsockname())).partition(":")
        with socket.create_connection((host, int(port))) as client, server.accept()[0] as accepted:
            yield client, accepted
        front.control.close(PART)


def received(end: socket.socket) -> str:
    """What has come to this end so far."""
    if not select.select([end], [], [], 0)[0]:
        return NOTHING
    try:
        return FIN if end.recv(1) == b"" else "bytes"
    except ConnectionResetError:
        return RST


def await_told(end: socket.socket, what: str) -> None:
    assert wait_until(lambda: (words := received(end)) != NOTHING and words, what=what, deadline=DEADLINE) == what


@pytest.mark.parametrize(
    ("toxic", "direction", "client_receives", "server_receives", "then_the_client", "then_the_server"),
    [
        (Reset(), "both", RST, RST, None, None),
        (Cut(), "both", FIN, FIN, None, None),
        (HalfOpen(), "to_server", NOTHING, FIN, RST, None),
        (HalfOpen(), "to_client", FIN, NOTHING, None, RST),
        (HalfOpen(), "both", NOTHING, NOTHING, RST, RST),
    ],
)
def test_what_the_ends_of_an_idle_connection_are_told(
    front: Front,
    pair: Pair,
    toxic: Toxic,
    direction: Sense,
    client_receives: str,
    server_receives: str,
    then_the_client: str | None,
    then_the_server: str | None,
) -> None:
    client, server = pair
    front.control.add(PART, "t", toxic, direction=direction)
    for end, what in ((client, client_receives), (server, server_receives)):
        if what != NOTHING:
            await_told(end, what)
    for end, what in ((client, client_receives), (server, server_receives)):
        assert what != NOTHING or received(end) == NOTHING
    assert front.control.remove(PART, "t").counts.connections == 1
    for end, later in ((client, then_the_client), (server, then_the_server)):
        if later is not None:
            await_told(end, later)

    def is_forgotten() -> bool:
        return [one.open for one in front.control.listeners() if one.name == PART] == [0]

    wait_until(is_forgotten, what="the proxy to forget the connection", deadline=DEADLINE)
