"""A fault of body or connection has acted only where it changed an answer."""

from typing import Any

import pytest

from tests.integration.mockapi.wire.raw import PAGE, Connection

ROOMS = ("mockapi/faults", "mockapi/journal", "mockapi/server")
NOWHERE = "/w/rest.php/v1/revision/999999999999/html"


def changes_of(mock: Any, do: dict[str, Any], path: str, headers: dict[str, str]) -> dict[str, int]:
    """What one request on a connection of its own, which the mock may end, has counted for the rule."""
    mock.rules({"name": "fault", "do": do})
    with Connection(mock.port) as connection:
        connection.ask(path, Connection="close", **headers)
        connection.rest()
    mock.until("the request has ended", lambda: mock.counts()["rules"]["fault"]["in_flight"] == 0)
    found: dict[str, int] = mock.counts()["rules"]["fault"]["changed_by"]
    return found


@pytest.mark.parametrize(
    ("do", "effect", "path", "headers"),
    [
        ({"body": {"size": "64KiB"}}, "body", PAGE, {}),
        ({"body": {"encoding": "br"}}, "body", PAGE, {"Accept_Encoding": "gzip, br"}),
        ({"charset": "iso-8859-1"}, "charset", PAGE, {}),
        ({"content_encoding": "gzip"}, "content_encoding", PAGE, {}),
        ({"content_encoding": "gzip"}, "content_encoding", PAGE, {"Accept_Encoding": "gzip"}),
        ({"content_length": {"off_by": -5}}, "content_length", PAGE, {}),
        ({"invalid_utf8": {"bytes": 3, "at": "50%"}}, "invalid_utf8", PAGE, {}),
        ({"truncate": {"after": "50%"}}, "ending", PAGE, {}),
        ({"malformed_chunk": "not hex"}, "ending", PAGE, {}),
        ({"reset": {"at": "in body", "after": "1KiB"}}, "ending", PAGE, {}),
        ({"keep_alive": {"requests": 1}}, "keep_alive", PAGE, {}),
        ({"latency_before_body": "1ms"}, "latency_before_body", PAGE, {}),
    ],
)
def test_a_fault_acts_where_it_changed_the_answer(
    mock: Any, do: dict[str, Any], effect: str, path: str, headers: dict[str, str]
) -> None:
    assert changes_of(mock, do, path, headers) == {effect: 1}


@pytest.mark.parametrize(
    ("do", "path", "headers"),
    [
        ({"body": {"size": "64KiB"}}, NOWHERE, {}),
        ({"body": {"encoding": "gzip"}}, PAGE, {"Accept_Encoding": "gzip"}),
        ({"charset": "utf-8"}, PAGE, {}),
        ({"truncate": {"after": "900MiB", "length": "promised"}}, PAGE, {}),
        ({"keep_alive": {"requests": 5}}, PAGE, {}),
        ({"latency_before_body": "0s"}, PAGE, {}),
    ],
)
def test_a_fault_that_changed_nothing_has_not_acted(
    mock: Any, do: dict[str, Any], path: str, headers: dict[str, str]
) -> None:
    assert changes_of(mock, do, path, headers) == {}
