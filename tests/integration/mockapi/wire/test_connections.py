"""A listener that takes few connections, on the wire: who gets a place, who is reset, when a place is free again."""

from typing import Any

from tests.integration.mockapi.wire.raw import PAGE, Connection

ROOMS = ("mockapi/faults", "mockapi/server")
PLACES: dict[str, Any] = {"name": "places", "do": {"connections": 2}}


def test_one_too_many_is_reset_and_the_others_go_on(mock: Any) -> None:
    mock.rules(PLACES)
    with Connection(mock.port) as first, Connection(mock.port) as second, Connection(mock.port) as third:
        for connection in (first, second):
            connection.ask()
            assert connection.answer().startswith(b"HTTP/1.1 200")
        third.ask()
        refused = third.rest()
        assert (refused.data, refused.end) == (b"", "RST")
        first.ask()
        assert first.answer().startswith(b"HTTP/1.1 200"), "a kept connection has its place"
        # These questions come on connections of their own, which take no place.
        assert mock.counts()["connections"] == {"opened": 3, "refused": 1, "held": 2}
        assert [(one["status"], one["completed"]) for one in mock.journal("?rule=places")].count((None, False)) == 1
    mock.until("the places are free", lambda: mock.counts()["connections"]["held"] == 0)
    assert mock.ask(PAGE).status == 200


def test_a_parse_keeps_the_place_of_a_client_that_is_gone(mock: Any) -> None:
    """Held by three seconds of parsing; the clients leave at once."""
    mock.rules({"name": "parse", "do": {"parse": "3s"}}, PLACES)
    for _ in range(2):
        with Connection(mock.port) as connection:
            before = mock.counts()["connections"]["held"]
            connection.ask()
            mock.until("it has a place", lambda before=before: mock.counts()["connections"]["held"] == before + 1)
    mock.until(
        "both clients are known to be gone",
        lambda: [one["completed"] for one in mock.journal("?rule=places")] == [False, False],
    )
    with Connection(mock.port) as connection:
        connection.ask()
        assert connection.rest().end == "RST"
    mock.until("the parses are over", lambda: mock.counts()["connections"]["held"] == 0)
    mock.rules(PLACES)
    assert mock.ask(PAGE).status == 200


def test_connections_are_counted_without_a_rule_and_anew_for_another_state(mock: Any) -> None:
    with Connection(mock.port) as connection:
        for _ in range(3):
            connection.ask()
            connection.answer()
        assert mock.counts()["connections"] == {"opened": 1, "refused": 0, "held": 0}
        mock.ask("/__mock/state", method="PUT", body={"seed": 2})
        assert mock.counts()["connections"]["opened"] == 0
        connection.ask()
        connection.answer()
        assert mock.counts()["connections"]["opened"] == 1, "it carried a request to the wiki as it is now"
