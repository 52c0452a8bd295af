"""What clients may throw at the socket, from random bytes to almost-HTTP; an ordinary request is answered after."""

import random
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.mockapi.wire.raw import PAGE, Connection

ROOMS = ("mockapi/server",)
ROUNDS = 150
READ_S = 0.02
VALID = (
    f"GET {PAGE} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode(),
    b"POST /w/api.php HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 27\r\n\r\naction=query&meta=siteinfo&x",
    b"PUT /__mock/rules HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    f"HEAD {PAGE}?a=%FF%00&b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".encode(),
)
WHOLE = (
    b"",
    b"\r\n" * 500,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /%ff%fe%00/../..//w/rest.php/v1/page/%E0%A0 HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\njunk",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /w/api.php HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    b'GET / HTTP/1.1\r\nAccept-Encoding: gzip;q=1.2.3.\r\nIf-None-Match: "\r\nX-Request-Id: \xff\r\n\r\n',
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    VALID[0] * 20,
    VALID[0] + b"\x00\xff garbage behind a request",
)


def mutated(source: random.Random) -> bytes:
    data = bytearray(source.choice(VALID))
    for _ in range(source.randint(1, 8)):
        at = source.randrange(len(data))
        match source.randrange(4):
            case 0:
                data[at] = source.randrange(256)
            case 1:
                del data[at : at + source.randint(1, 9)]
            case 2:
                data[at:at] = source.randbytes(source.randint(1, 9))
            case _:
                data[at:at] = data[at : at + source.randint(1, 40)]
        if not data:
            break
    return bytes(data)


def inputs() -> Iterator[bytes]:
    yield from WHOLE
    source = random.Random(7)
    for _ in range(ROUNDS):
        yield mutated(source)
        yield source.randbytes(source.randint(1, 2_000))


def throw(port: int, data: bytes, *, read: bool) -> None:
    with Connection(port) as connection:
        connection.socket.settimeout(READ_S)
        try:
            connection.socket.sendall(data)
            while read and connection.socket.recv(65_536):
                pass
        except (ConnectionError, TimeoutError):
            pass


@pytest.mark.parametrize(
    "do", [None, {"reset": "in body"}, {"keep_alive": 1}, {"dribble": {"bytes": 9, "every": "1h"}}]
)
def test_garbage_does_not_take_it_down(mock: Any, do: dict[str, Any] | None) -> None:
    """The fixture checks that the server has said nothing on stderr in the end."""
    if do is not None:
        mock.rules({"name": "fault", "when": {"path": "/w/*"}, "do": do})
    for n, data in enumerate(inputs()):
        throw(mock.port, data, read=n % 3 != 0)
    mock.ask("/__mock/state", method="PUT", body={"seed": 1})
    assert mock.process.poll() is None
    assert mock.page(28674).status == 200


def test_a_head_that_does_not_end_is_refused(mock: Any) -> None:
    with Connection(mock.port) as connection:
        connection.socket.sendall(b"GET / HTTP/1.1\r\n")
        heard = b""
        try:
            for n in range(10_000):
                connection.socket.sendall(b"X-%d: %b\r\n" % (n, b"x" * 1_000))
        except ConnectionError:
            pass
        try:
            heard = connection.socket.recv(1_000)
        except ConnectionResetError:
            return
    assert heard.startswith(b"HTTP/1.1 431 ")


def test_many_connections_that_say_nothing(mock: Any) -> None:
    silent = [socket.create_connection(("127.0.0.1", mock.port), timeout=30) for _ in range(200)]
    assert mock.page(28674).status == 200
    for connection in silent:
        connection.close()
