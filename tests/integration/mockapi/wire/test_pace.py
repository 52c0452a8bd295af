"""Bodies that come slowly. A lower bound of the time follows from the rule; nothing is said of an upper one."""

import socket
import time
from typing import Any

import pytest

from tests.integration.mockapi.wire.raw import PAGE, Connection


def paced(mock: Any, do: dict[str, Any], size: int = 1_000) -> tuple[bytes, float]:
    """The body, and how long it took from its first byte to its last."""
    mock.rules({"name": "size", "do": {"body": {"size": size}}}, {"name": "fault", "do": do})
    with Connection(mock.port) as connection:
        connection.ask()
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.socket.recv(1)
        body, first_s = connection.socket.recv(size), time.monotonic()
        while len(body) < size:
            body += connection.socket.recv(size)
        return body, time.monotonic() - first_s


@pytest.mark.parametrize(
    ("do", "seconds"),
    [
        ({"dribble": {"bytes": 100, "every": "50ms"}}, 9 * 0.05),
        ({"bandwidth": 2_000}, 0.25),
        ({"latency_through_body": "500ms"}, 0.5),
        ({"latency_through_body": "9s", "truncate": "100%"}, None),
    ],
)
def test_the_body_takes_its_time(mock: Any, do: dict[str, Any], seconds: float | None) -> None:
    if seconds is None:
        do, seconds = {**do, "latency_through_body": "300ms"}, 0.3
    whole = mock_body(mock)
    body, took_s = paced(mock, do)
    assert body == whole
    # The first byte may have been waited for before the clock started here.
    assert took_s >= seconds * 0.8


def mock_body(mock: Any) -> bytes:
    mock.rules({"name": "size", "do": {"body": {"size": 1_000}}})
    return bytes(mock.ask(PAGE).body)


def test_headers_come_before_the_wait_for_the_body(mock: Any) -> None:
    mock.rules({"name": "fault", "do": {"latency_before_body": "never"}})
    with Connection(mock.port) as connection:
        connection.ask()
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.socket.recv(1)
        connection.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.socket.recv(1)
    mock.until("the request has ended", lambda: len(mock.journal("?rule=fault")) == 1)
    (entry,) = mock.journal("?rule=fault")
    assert (entry["status"], entry["wire_bytes"], entry["completed"]) == (200, 0, False)


def test_a_client_that_leaves_a_dribbled_body(mock: Any) -> None:
    mock.rules({"name": "fault", "do": {"dribble": {"bytes": 10, "every": "1h"}}})
    with Connection(mock.port) as connection:
        connection.ask()
        heard = b""
        while not heard.partition(b"\r\n\r\n")[2]:
            heard += connection.socket.recv(1_000)
    mock.until("the request has ended", lambda: len(mock.journal("?rule=fault")) == 1)
    (entry,) = mock.journal("?rule=fault")
    assert (entry["wire_bytes"], entry["completed"]) == (10, False)


def test_a_client_that_reads_nothing_does_not_stop_the_others(mock: Any) -> None:
    mock.rules({"name": "large", "when": {"revision": 28674}, "do": {"body": {"size": "200MiB"}}})
    with Connection(mock.port) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.ask()
        connection.socket.recv(1)
        assert mock.page(28673).status == 200
    mock.until("the request has ended", lambda: len(mock.journal("?rule=large")) == 1)
    (entry,) = mock.journal("?rule=large")
    assert entry["wire_bytes"] < 200 << 20
    assert not entry["completed"]
