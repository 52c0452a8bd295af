from typing import Any

import pytest

from tests.integration.mockapi.wire.raw import PAGE, Connection

ROOMS = ("mockapi/faults", "mockapi/server")
HANG = {"name": "hang", "when": {"path": PAGE}, "do": {"hang": True}}


def hanging(mock: Any, connection: Connection) -> None:
    connection.ask()
    mock.until_in_flight(1)
    connection.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        connection.socket.recv(1)
    connection.socket.settimeout(30)


def test_a_client_that_leaves(mock: Any) -> None:
    mock.rules(HANG)
    with Connection(mock.port) as connection:
        hanging(mock, connection)
    entry = mock.ended("hang")
    assert (entry["status"], entry["wire_bytes"], entry["completed"]) == (None, 0, False)


@pytest.mark.parametrize("removed", [True, False])
def test_a_rule_that_ends_closes_the_connection(mock: Any, removed: bool) -> None:
    mock.rules(HANG)
    with Connection(mock.port) as connection:
        hanging(mock, connection)
        if removed:
            mock.rules()
        else:
            mock.ask("/__mock/state", method="PUT", body={"seed": 2})
        assert connection.rest().data == b""


def test_a_rule_that_is_spent_still_holds(mock: Any) -> None:
    mock.rules({**HANG, "times": 1})
    with Connection(mock.port) as connection:
        hanging(mock, connection)
        assert mock.ask(PAGE).status == 200


def test_nothing_more_is_read(mock: Any) -> None:
    """What a client goes on to send stays in the buffers, until there is room for no more; so does its FIN then."""
    mock.rules(HANG)
    with Connection(mock.port) as connection:
        hanging(mock, connection)
        connection.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            connection.socket.sendall(b"x" * (64 << 20))
        mock.rules()
        mock.ended("hang")
