"""A pool of parsers, and its places: each is of one connection, until it is closed and its parses have ended."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.faults.capacity import Capacity
from mockapi.upstream.load import Load, UpstreamCounts
from mockapi.upstream.parser import Parse, Pool, QueueFull
from mockapi.upstream.places import ConnectionCounts, ConnectionPlace, ConnectionPlaces
from tests.unit.mockapi.manual_time import ManualTime


def pool_of(parses: int, timers: ManualTime, load: Load | None = None, **bounds: Any) -> Pool:
    return Pool(Capacity(parses=parses, **bounds), load or Load(), timers.monotonic, timers.later)


def over(parses: list[Parse]) -> list[bool]:
    return [parse.over.is_set() for parse in parses]


def test_first_in_first_out_and_never_more_than_its_capacity(timers: ManualTime) -> None:
    load = Load()
    pool = pool_of(2, timers, load)
    parses = [pool.begin(1.0) for _ in range(5)]
    assert load.counts() == UpstreamCounts(busy=2, queued=3, max_queued=3)
    timers.pass_s(1.0)
    assert over(parses) == [True, True, False, False, False]
    assert load.counts() == UpstreamCounts(busy=2, queued=1, parses=2, parse_s=2.0, max_queued=3)
    timers.pass_s(1.0)
    assert over(parses) == [True, True, True, True, False]
    timers.pass_s(1.0)
    assert over(parses) == [True] * 5
    assert pool.idle


def test_who_comes_while_others_queue_goes_behind_them(timers: ManualTime) -> None:
    pool = pool_of(1, timers)
    first = [pool.begin(1.0), pool.begin(1.0)]
    timers.pass_s(0.5)
    late = pool.begin(0.1)
    timers.pass_s(1.5)
    assert over([*first, late]) == [True, True, False]
    timers.pass_s(0.1)
    assert late.over.is_set()


@pytest.mark.parametrize(("queue", "overflow"), [(0, 503), (3, 429)])
def test_a_full_queue_turns_away_until_there_is_room(timers: ManualTime, queue: int, overflow: int) -> None:
    load = Load()
    pool = pool_of(1, timers, load, queue=queue, overflow=overflow)
    for _ in range(1 + queue):
        pool.begin(1.0)
    with pytest.raises(QueueFull) as full:
        pool.begin(1.0)
    assert full.value.code == overflow
    assert load.counts().queued == queue
    timers.pass_s(1.0)
    pool.begin(1.0)


def test_an_abandoned_parse_keeps_its_place_and_takes_its_full_time(timers: ManualTime) -> None:
    load = Load()
    pool = pool_of(1, timers, load)
    under_way, queued, last = (pool.begin(1.0) for _ in range(3))
    under_way.abandon()
    queued.abandon()
    timers.pass_s(2.0)
    assert over([under_way, queued, last]) == [True, True, False]
    timers.pass_s(1.0)
    assert last.over.is_set()
    assert load.counts() == UpstreamCounts(parses=3, abandoned=2, parse_s=3.0, max_queued=2)


def test_a_machine_that_is_late_does_not_make_the_capacity_smaller(timers: ManualTime) -> None:
    pool = pool_of(1, timers)
    parses = [pool.begin(1.0) for _ in range(4)]
    timers.stall_s(2.5)
    assert over(parses) == [True, True, False, False]
    timers.pass_s(0.5)
    assert over(parses) == [True, True, True, False]


def test_no_parse_begins_before_it_came_in(timers: ManualTime) -> None:
    pool = pool_of(1, timers)
    first = pool.begin(1.0)
    timers.now_s = 1.5
    late = pool.begin(1.0)
    timers.stall_s(0)
    assert over([first, late]) == [True, False]
    timers.pass_s(0.75)
    assert not late.over.is_set()
    timers.pass_s(0.25)
    assert late.over.is_set()


def test_leaving_when_it_is_over_abandons_nothing(timers: ManualTime) -> None:
    load = Load()
    parse = pool_of(1, timers, load).begin(1.0)
    timers.pass_s(1.0)
    parse.abandon()
    assert load.counts().abandoned == 0


def test_a_larger_capacity_starts_the_queue_and_a_smaller_one_lets_go_on_what_runs(timers: ManualTime) -> None:
    load = Load()
    pool = pool_of(1, timers, load)
    parses = [pool.begin(1.0) for _ in range(6)]
    pool.resize(Capacity(parses=4))
    assert (load.counts().busy, load.counts().queued) == (4, 2)
    pool.resize(Capacity(parses=1, queue=0))
    timers.pass_s(1.0)
    assert (load.counts().busy, load.counts().queued) == (1, 1)
    timers.pass_s(2.0)
    assert all(over(parses))


def test_without_its_bound_nothing_is_stranded(timers: ManualTime) -> None:
    pool = pool_of(1, timers)
    parses = [pool.begin(1.0) for _ in range(6)]
    pool.resize(None)
    timers.pass_s(1.0)
    assert all(over(parses))


def test_a_retired_pool_goes_on_only_with_what_is_awaited(timers: ManualTime) -> None:
    load = Load()
    pool = pool_of(1, timers, load)
    running, abandoned, awaited, impatient = (pool.begin(1.0) for _ in range(4))
    running.abandon()
    abandoned.abandon()
    pool.retire()
    assert (load.counts().busy, load.counts().queued, timers.pending) == (1, 1, 1)
    impatient.abandon()
    assert (load.counts().busy, load.counts().queued) == (1, 0)
    timers.pass_s(1.0)
    assert over([running, abandoned, awaited, impatient]) == [False, False, True, False]
    assert (pool.idle, timers.pending) == (True, 0)


def test_who_leaves_a_retired_pool_while_it_runs_frees_the_slot(timers: ManualTime) -> None:
    pool = pool_of(1, timers)
    running, next_one = pool.begin(1.0), pool.begin(1.0)
    pool.retire()
    timers.pass_s(0.5)
    running.abandon()
    timers.pass_s(1.0)
    assert over([running, next_one]) == [False, True]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.floats(0, 3)),
        st.tuples(st.just("leave"), st.integers(0, 50)),
        st.tuples(st.just("pass"), st.floats(0, 3)),
        st.tuples(st.just("resize"), st.none() | st.integers(1, 4)),
    ),
    max_size=40,
)


@given(steps, st.integers(1, 4), st.none() | st.integers(0, 5))
def test_whatever_happens_every_parse_taken_ends_in_its_turn(
    taken: list[tuple[str, Any]], bound: int, queue: int | None
) -> None:
    timers, load = ManualTime(0.0), Load()
    pool = pool_of(bound, timers, load, queue=queue)
    parses: list[Parse] = []
    turned_away = 0
    for what, value in taken:
        match what:
            case "begin":
                try:
                    parses.append(pool.begin(value))
                except QueueFull:
                    turned_away += 1
            case "leave" if value < len(parses):
                parses[value].abandon()
            case "pass":
                timers.pass_s(value)
            case "resize":
                pool.resize(None if value is None else Capacity(parses=value, queue=queue))
        counts = load.counts()
        assert counts.busy + counts.queued + counts.parses == len(parses)
        assert counts.busy == timers.pending
        started = [parse.over.is_set() or parse in pool._running for parse in parses]
        assert started == sorted(started, reverse=True), "nobody overtakes"
    timers.pass_s(1_000)
    assert all(over(parses))
    counts = load.counts()
    assert counts.abandoned == sum(not parse.awaited for parse in parses)
    assert counts.parse_s == pytest.approx(sum(parse.seconds for parse in parses))
    assert len(parses) + turned_away == sum(what == "begin" for what, _ in taken)


def test_it_adds_up_and_forgetting_keeps_what_is_so_now() -> None:
    load = Load()
    assert load.counts() == UpstreamCounts()
    for count in (load.queued, load.queued, load.queued, load.dequeued, load.began, load.began, load.began):
        count()
    load.ended(0.5, awaited=False)
    assert load.counts() == UpstreamCounts(busy=2, queued=2, parses=1, abandoned=1, parse_s=0.5, max_queued=3)
    load.ended(0.25, awaited=True)
    assert load.counts() == UpstreamCounts(busy=1, queued=2, parses=2, abandoned=1, parse_s=0.75, max_queued=3)
    load.forget()
    assert load.counts() == UpstreamCounts(busy=1, queued=2, max_queued=2)
    load.stopped()
    assert load.counts() == UpstreamCounts(queued=2, max_queued=2), "one that is stopped is no finished one"


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
