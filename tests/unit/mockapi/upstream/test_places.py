"""A place is of one connection, until it is closed and its parses have ended."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from mockapi.upstream.places import ConnectionCounts, ConnectionPlace, ConnectionPlaces


class Connection:
    def __init__(self) -> None:
        self._when_lost: list[Callable[[], None]] = []

    def when_lost(self, ended: Callable[[], None]) -> None:
        self._when_lost.append(ended)

    def close(self) -> None:
        for ended in self._when_lost:
            ended()
        self._when_lost = []


def test_a_connection_keeps_its_place_and_one_too_many_gets_none() -> None:
    places, first, second = ConnectionPlaces(), Connection(), Connection()
    for connection in (first, first, second):
        places.note_request(connection)
    place = places.take("few", 1, first)
    assert place is not None
    assert places.take("few", 1, first) is place
    assert places.take("few", 1, second) is None
    assert places.counts() == ConnectionCounts(opened=2, refused=1, held=1)
    first.close()
    assert places.take("few", 1, second) is not None


def test_a_parse_keeps_the_place_of_a_client_that_died() -> None:
    places, dead, living = ConnectionPlaces(), Connection(), Connection()
    place = places.take("few", 1, dead)
    assert place is not None
    place.parse_begins()
    place.parse_begins()
    dead.close()
    place.parse_ended()
    assert places.take("few", 1, living) is None
    place.parse_ended()
    assert places.take("few", 1, living) is not None


def test_a_place_is_kept_by_a_client_whose_parses_are_over() -> None:
    places, kept = ConnectionPlaces(), Connection()
    place = places.take("few", 1, kept)
    assert place is not None
    place.parse_begins()
    place.parse_ended()
    assert places.counts().held == 1


def test_rules_have_places_of_their_own() -> None:
    places, one = ConnectionPlaces(), Connection()
    assert places.take("few", 1, one) is not places.take("others", 1, one)
    assert places.counts().held == 2
    one.close()
    assert places.counts().held == 0


def test_what_is_forgotten_is_counted_anew_and_places_are_kept() -> None:
    places, one = ConnectionPlaces(), Connection()
    places.note_request(one)
    places.take("few", 1, one)
    places.forget()
    assert places.counts() == ConnectionCounts(opened=0, refused=0, held=1)
    places.note_request(one)
    assert places.counts().opened == 1


@given(st.integers(1, 4), st.lists(st.tuples(st.sampled_from(["ask", "close", "begin", "end"]), st.integers(0, 7))))
def test_there_are_never_more_than_that_and_none_is_lost(at_most: int, steps: list[tuple[str, int]]) -> None:
    """Against a model: a place is held by who has it and is connected, or has a parse under way."""
    places = ConnectionPlaces()
    connections = [Connection() for _ in range(8)]
    held: dict[int, tuple[ConnectionPlace, int, bool]] = {}
    for what, number in steps:
        place, parses, connected = held.get(number, (None, 0, True))
        match what:
            case "ask" if connected:
                found = places.take("few", at_most, connections[number])
                assert (found is not None) == (number in held or len(held) < at_most)
                if found is not None:
                    held[number] = (found, parses, True)
            case "close" if place is not None and connected:
                connections[number].close()
                held[number] = (place, parses, False)
            case "begin" if place is not None and connected:
                place.parse_begins()
                held[number] = (place, parses + 1, connected)
            case "end" if place is not None and parses:
                place.parse_ended()
                held[number] = (place, parses - 1, connected)
        for one in [one for one, (_, parses, connected) in held.items() if not parses and not connected]:
            del held[one]
            connections[one] = Connection()
        assert places.counts().held == len(held) <= at_most
