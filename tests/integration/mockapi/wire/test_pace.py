"""Bodies that come slowly. A lower bound of the time follows from the rule; nothing is said of an upper one."""

import socket
import time
from typing import Any

import pytest

from tests.integration.mockapi.wire.raw import PAGE, Connection

ROOMS = ("mockapi/faults", "mockapi/server")


def past_headers(connection: Connection) -> None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.socket.recv(1)


@pytest.mark.parametrize(
    ("do", "seconds"),
    [
        ({"dribble": {"bytes": 100, "every": "50ms"}}, 9 * 0.05),
        ({"bandwidth": 2_000}, 0.25),
        ({"latency_through_body": "500ms"}, 0.5),
        ({"latency_through_body": "300ms", "truncate": "100%"}, 0.3),
    ],
)
def test_the_body_takes_its_time(mock: Any, do: dict[str, Any], seconds: float) -> None:
    size = {"name": "size", "do": {"body": {"size": 1_000}}}
    mock.rules(size)
    whole = mock.ask(PAGE).body
    mock.rules(size, {"name": "fault", "do": do})
    with Connection(mock.port) as connection:
        connection.ask()
        past_headers(connection)
        body, first_s = connection.socket.recv(1_000), time.monotonic()
        while len(body) < 1_000:
            body += connection.socket.recv(1_000)
        took_s = time.monotonic() - first_s
    assert body == whole
    # The first byte may have been waited for before the clock started here.
    assert took_s >= seconds * 0.8


def test_headers_come_before_the_wait_for_the_body(mock: Any) -> None:
    mock.rules({"name": "fault", "do": {"latency_before_body": "never"}})
    with Connection(mock.port) as connection:
        connection.ask()
        past_headers(connection)
        connection.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.socket.recv(1)
    entry = mock.ended()
    assert (entry["status"], entry["wire_bytes"], entry["completed"]) == (200, 0, False)


def test_a_client_that_leaves_a_dribbled_body(mock: Any) -> None:
    mock.rules({"name": "fault", "do": {"dribble": {"bytes": 10, "every": "1h"}}})
    with Connection(mock.port) as connection:
        connection.ask()
        heard = b""
        while not heard.partition(b"\r\n\r\n")[2]:
            heard += connection.socket.recv(1_000)
    entry = mock.ended()
    assert (entry["wire_bytes"], entry["completed"]) == (10, False)


def test_a_client_that_reads_nothing_does_not_stop_the_others(mock: Any) -> None:
    mock.rules({"name": "large", "when": {"revision": 28674}, "do": {"body": {"size": "200MiB"}}})
    with Connection(mock.port) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.ask()
        connection.socket.recv(1)
        assert mock.page(28673).status == 200
    entry = mock.ended("large")
    assert entry["wire_bytes"] < 200 << 20
    assert not entry["completed"]
