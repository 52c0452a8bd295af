"""What HTTP/1.1 requires of a request, HTTP/1.0's kept connections, and connections that a client has half closed."""

import socket
from typing import Any

import pytest

from tests.integration.mockapi.wire.raw import PAGE, Connection, Heard

ROOMS = ("mockapi/server",)
SHORT = "/w/rest.php/v1/revision/28674/bare"


def said(port: int, *requests: str, half_closes: bool = False) -> Heard:
    """All that comes back until the connection ends."""
    with Connection(port) as connection:
        connection.socket.sendall("".join(requests).encode())
        if half_closes:
            connection.socket.shutdown(socket.SHUT_WR)
        return connection.rest()


def request(path: str = SHORT, *, version: str = "1.1", **headers: str) -> str:
    named = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"GET {path} HTTP/{version}\r\n{named}\r\n"


@pytest.mark.parametrize(
    "asked", [request(Connection="close"), request(Host="a\r\nHost: b", Connection="close")], ids=["none", "two"]
)
def test_a_request_without_one_host_is_refused(mock: Any, asked: str) -> None:
    answer = said(mock.port, asked)
    assert answer.data.startswith(b"HTTP/1.1 400 ")
    assert answer.body == b"HTTP/1.1 requires one Host header\n"


def test_a_request_of_http_1_0_needs_no_host_and_ends_its_connection(mock: Any) -> None:
    answer = said(mock.port, request(version="1.0"))
    assert answer.data.split(b" ")[1] == b"200"
    assert answer.end == "FIN"


def test_http_1_0_keeps_a_connection_that_asks_for_it(mock: Any) -> None:
    kept, last = request(version="1.0", Connection="keep-alive"), request(version="1.0")
    with Connection(mock.port) as connection:
        connection.socket.sendall(kept.encode())
        first = connection.answer()
        connection.socket.sendall(last.encode())
        second = connection.rest()
    assert b"connection: keep-alive" in first.lower()
    assert second.data.split(b" ")[1] == b"200"


def test_a_half_closed_connection_gets_all_its_answers(mock: Any) -> None:
    answer = said(mock.port, *[request(Host="localhost")] * 3, half_closes=True)
    assert (answer.data.count(b"HTTP/1.1 200 "), answer.end) == (3, "FIN")
    assert [entry["completed"] for entry in mock.journal()] == [True] * 3


def test_a_large_page_reaches_a_half_closed_connection_whole(mock: Any) -> None:
    mock.rules({"name": "large", "do": {"body": {"size": "4MiB"}}})
    answer = said(mock.port, request(PAGE, Host="localhost"), half_closes=True)
    assert len(answer.body) == 4 << 20


def test_a_client_that_gave_up_is_known_to_be_gone(mock: Any) -> None:
    """It closed the whole connection while a fault held its request back."""
    mock.rules({"name": "slow", "do": {"latency": "20s"}})
    with Connection(mock.port) as connection:
        connection.ask()
        mock.until("it is held", lambda: mock.counts()["rules"]["slow"]["in_flight"] == 1)
    mock.until("it is gone", lambda: [entry["completed"] for entry in mock.journal("?rule=slow")] == [False])
