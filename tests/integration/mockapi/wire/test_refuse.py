"""The listener goes away and comes back; open connections, so also the control, live on."""

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

ROOMS = ("mockapi/faults", "mockapi/server")
REVISION = "/w/rest.php/v1/revision/28674/html"


class Control:
    """A connection that was open before the refusal."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.ask("GET", "/__mock/rules")

    def ask(self, method: str, path: str, body: object = None) -> int:
        payload = None if body is None else json.dumps(body)
        self._connection.request(method, path, payload, {"Content-Type": "application/json"} if payload else {})
        with self._connection.getresponse() as response:
            response.read()
            return response.status

    def rules(self, *rules: dict[str, Any]) -> None:
        assert self.ask("PUT", "/__mock/rules", list(rules)) == 200

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def control(mock: Any) -> Iterator[Control]:
    control = Control(mock.port)
    yield control
    control.rules()
    control.close()


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
    except ConnectionRefusedError:
        return True
    return False


def test_refused_when_the_rule_is_there_and_not_when_it_is_gone(mock: Any, control: Control) -> None:
    """At once: the control answers only when the listener has followed."""
    for _ in range(3):
        control.rules({"name": "down", "do": {"refuse": "1h"}})
        assert [refused(mock.port) for _ in range(3)] == [True, True, True]
        assert control.ask("GET", REVISION) == 200
        control.rules()
        assert not refused(mock.port)
    assert mock.ask(REVISION).status == 200


@pytest.mark.parametrize("rule", [{"do": {"refuse": "400ms"}}, {"do": {"refuse": {}}, "ttl": "400ms"}], ids=str)
def test_it_ends_by_itself_on_the_same_port(mock: Any, control: Control, rule: dict[str, Any]) -> None:
    control.rules({"name": "down", **rule})
    assert refused(mock.port)
    mock.until("connections are accepted again", lambda: not refused(mock.port))
    assert mock.ask(REVISION).status == 200


def test_open_requests_live_on(mock: Any, control: Control) -> None:
    mock.rules({"name": "slow", "do": {"latency": "300ms"}})
    waiting = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=30)
    waiting.request("GET", REVISION)
    control.rules({"name": "down", "do": {"refuse": "1h"}})
    assert refused(mock.port)
    assert waiting.getresponse().status == 200
    waiting.close()


def test_a_new_world_listens(mock: Any, control: Control) -> None:
    control.rules({"name": "down", "do": {"refuse": "1h"}})
    assert refused(mock.port)
    assert control.ask("PUT", "/__mock/state", {"seed": 1}) == 200
    assert not refused(mock.port)


def test_it_ends_while_it_refuses(start_mock: Any) -> None:
    mock = start_mock()
    mock.rules({"name": "down", "do": {"refuse": "1h"}})
    assert refused(mock.port)
    mock.process.terminate()
    out, err = mock.process.communicate(timeout=20)
    assert (mock.process.returncode, out, err) == (0, "", "")
