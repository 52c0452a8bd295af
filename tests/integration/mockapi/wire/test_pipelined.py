"""Requests that a client sends without waiting for answers."""

from collections.abc import Callable
from typing import Any

from tests.integration.mockapi.conftest import stop
from tests.integration.mockapi.wire.raw import Connection

ROOMS = ("mockapi/server",)
WAIT = {"name": "wait", "do": {"latency": "never"}}


def test_they_are_answered_in_their_order(mock: Any) -> None:
    with Connection(mock.port) as connection:
        connection.ask("/w/rest.php/v1/revision/28674/bare")
        connection.ask("/w/rest.php/v1/revision/5/bare")
        assert [connection.answer().split(b" ", 2)[1] for _ in range(2)] == [b"200", b"404"]


def test_each_learns_that_the_client_has_left(mock: Any) -> None:
    mock.rules(WAIT)
    with Connection(mock.port) as connection:
        for _ in range(3):
            connection.ask()
        mock.until_in_flight(1)
    mock.until_in_flight(0)


def test_the_end_of_the_server_ends_them_quietly(start_mock: Callable[..., Any]) -> None:
    mock = start_mock()
    mock.rules(WAIT)
    connections = [Connection(mock.port) for _ in range(5)]
    for connection in connections:
        connection.ask()
        connection.ask()
    mock.until_in_flight(len(connections))
    assert stop(mock) == ""
    for connection in connections:
        connection.socket.close()
