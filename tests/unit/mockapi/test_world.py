from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.clock import Clock, RequestClock
from mockapi.draws import Draw, log_normal, uniform
from mockapi.journal.entry import Result
from mockapi.rules.model import Rule
from mockapi.upstream.load import UpstreamCounts
from mockapi.world import Attempts, World, Worlds
from tests.unit.mockapi.conftest import make_page
from tests.unit.mockapi.journal_entries import asked
from tests.unit.mockapi.manual_time import ManualTime

NARROW = Rule.model_validate({"name": "narrow", "do": {"capacity": 1}})
ASKED = asked(rules=("narrow",))
texts = st.text(max_size=20)


@pytest.fixture
def clock(time: ManualTime) -> Clock:
    return Clock(now=lambda: datetime(2026, 11, 21, tzinfo=UTC), monotonic=time.monotonic, later=time.later)


@pytest.fixture
def world(clock: Clock) -> World:
    return World(1, [make_page()], (NARROW,), clock)


def test_counts_are_those_of_journal_parser_and_clock(world: World, time: ManualTime) -> None:
    assert (world.counts().clock_s, world.counts().upstream) == (None, UpstreamCounts())
    number = world.journal.begin(ASKED, world.clock.arrive())
    world.upstream.parser.begin(1.0, "narrow")
    world.upstream.parser.begin(1.0, "narrow")
    time.now_s += 2.5
    world.journal.finish(number, Result(status=200, completed=True))
    counts = world.counts()
    assert (counts.clock_s, counts.requests, counts.fetches, counts.rules["narrow"].requests) == (2.5, 1, 1, 1)
    assert counts.upstream == UpstreamCounts(busy=1, queued=1, max_queued=1)


def test_forgetting_keeps_the_clock_and_what_is_under_way(world: World, time: ManualTime) -> None:
    world.journal.finish(world.journal.begin(ASKED, world.clock.arrive()), Result())
    world.upstream.parser.begin(1.0, "narrow")
    time.now_s += 2.5
    world.forget()
    counts = world.counts()
    assert (counts.clock_s, counts.requests, counts.fetches, sum(counts.latency.counts)) == (2.5, 0, 0, 0)
    assert counts.upstream == UpstreamCounts(busy=1)


def test_new_rules_bound_what_is_queued(world: World) -> None:
    for _ in range(3):
        world.upstream.parser.begin(1.0, "narrow")
    world.rulebook.replace(())
    assert (world.rules, world.rule_names, world.counts().upstream.busy) == ((), (), 3)


def test_a_world_that_is_replaced_lets_go_parses_without_a_client(world: World, clock: Clock) -> None:
    worlds = Worlds(world, clock)
    world.upstream.parser.begin(1.0, "narrow").abandon()
    world.upstream.parser.begin(1.0, "narrow")
    new = World(2, [], (), clock)
    worlds.replace(new)
    assert worlds.current is new
    assert (world.counts().upstream.busy, world.counts().upstream.queued) == (1, 0)
    assert new.counts().upstream == UpstreamCounts()


def test_reset_brings_the_start_back(world: World, clock: Clock) -> None:
    worlds = Worlds(world, clock)
    world.rulebook.switch("narrow", on=False)
    world.journal.finish(world.journal.begin(ASKED, world.clock.arrive()), Result())
    worlds.populate(9, None, ())
    assert (worlds.current.seed, worlds.current.rules, worlds.current.wikis.page_count) == (9, (), 1000)
    worlds.reset()
    assert worlds.current is not world
    assert (worlds.current.seed, worlds.current.rules, worlds.current.wikis.page_count) == (1, (NARROW,), 1)
    assert worlds.current.counts().requests == 0


@given(st.lists(st.sampled_from("abcd"), max_size=60))
def test_each_key_counts_for_itself(keys: list[str]) -> None:
    attempts = Attempts()
    seen = [attempts.next(key) for key in keys]
    assert seen == [keys[: n + 1].count(key) for n, key in enumerate(keys)]


def test_the_key_not_used_for_longest_is_forgotten_first() -> None:
    attempts = Attempts(limit=2)
    for key in "abac":
        attempts.next(key)
    assert attempts.next("a") == 3
    assert attempts.next("b") == 1


def test_the_clock_stands_still_until_the_first_request() -> None:
    readings = iter([50.0, 53.5, 54.0])
    clock = RequestClock(lambda: next(readings))
    assert clock.elapsed() is None
    assert clock.arrive() == 0.0
    assert clock.arrive() == 3.5
    assert clock.elapsed() == 4.0


@given(st.integers(), texts, texts, st.integers(min_value=1))
def test_a_draw_is_inside_the_unit_interval_and_repeatable(seed: int, rule: str, key: str, attempt: int) -> None:
    draw = Draw(seed, rule, key, attempt).uniform("latency")
    assert 0 < draw < 1
    assert draw == Draw(seed, rule, key, attempt).uniform("latency")


@pytest.mark.parametrize(
    "other", [Draw(2, "r", "k", 1), Draw(1, "s", "k", 1), Draw(1, "r", "l", 1), Draw(1, "r", "k", 2)]
)
def test_every_argument_matters(other: Draw) -> None:
    assert Draw(1, "r", "k", 1).uniform("latency") != other.uniform("latency")


def test_purposes_are_independent() -> None:
    draw = Draw(1, "r", "k", 1)
    assert draw.uniform("latency") != draw.uniform("status")


def test_where_one_part_ends_matters() -> None:
    assert uniform("ab", "c") != uniform("a", "bc")


@given(
    st.floats(0.001, 0.999).filter(lambda u: u == 0.99 or abs(u - 0.99) > 1e-6),
    st.floats(0.01, 100),
    st.just(1.0) | st.floats(1.001, 50),
)
def test_log_normal_has_the_percentiles_it_was_given(u: float, median: float, spread: float) -> None:
    p99 = median * spread
    assert log_normal(0.5, median, p99) == pytest.approx(median)
    assert log_normal(0.99, median, p99) == pytest.approx(p99)
    assert (log_normal(u, median, p99) <= p99 * (1 + 1e-9)) == (u <= 0.99 or spread == 1)


def test_draws_follow_the_distribution() -> None:
    values = [uniform("spread", n) for n in range(4_000)]
    assert sum(value < 0.25 for value in values) == pytest.approx(1_000, rel=0.1)
    assert sum(value > 0.99 for value in values) == pytest.approx(40, rel=0.5)
