import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.rules.model import Rule
from mockapi.upstream.buckets import Buckets, Limit
from mockapi.upstream.load import UpstreamCounts
from mockapi.upstream.parser import Parser, QueueFull
from mockapi.upstream.upstream import Replicas
from tests.unit.mockapi.manual_time import ManualTime


def rules(**capacities: object) -> list[Rule]:
    return [Rule.model_validate({"name": name, "do": {"capacity": one}}) for name, one in capacities.items()]


@pytest.fixture
def parser(timers: ManualTime) -> Parser:
    made = Parser(timers.monotonic, timers.later)
    made.follow([*rules(a=1, b=2), Rule.model_validate({"name": "slow", "do": {"parse": "1s"}})])
    return made


def test_each_capacity_is_a_pool_of_its_own_and_all_count_together(parser: Parser, timers: ManualTime) -> None:
    for rule in ("a", "a", "b", "b", "b", None, None):
        parser.begin(1.0, rule)
    assert parser.counts() == UpstreamCounts(busy=5, queued=2, max_queued=2)
    timers.pass_s(2.0)
    assert parser.counts() == UpstreamCounts(parses=7, parse_s=7.0, max_queued=2)


def test_a_rule_that_goes_strands_nothing(parser: Parser, timers: ManualTime) -> None:
    parses = [parser.begin(1.0, "a") for _ in range(9)]
    parser.follow([])
    assert parser.counts().queued == 0
    timers.pass_s(1.0)
    assert all(parse.over.is_set() for parse in parses)


def test_a_rule_that_returns_counts_what_still_runs(parser: Parser, timers: ManualTime) -> None:
    parser.begin(1.0, "a")
    parser.follow([])
    parser.follow(rules(a={"parses": 1, "queue": 0}))
    with pytest.raises(QueueFull):
        parser.begin(1.0, "a")
    timers.pass_s(1.0)
    parser.begin(1.0, "a")


def test_another_capacity_holds_at_once(parser: Parser) -> None:
    parses = [parser.begin(1.0, "a") for _ in range(4)]
    parser.follow(rules(a=3))
    assert (parser.counts().busy, parser.counts().queued, len(parses)) == (3, 1, 4)


def test_rules_that_went_leave_nothing_behind(parser: Parser) -> None:
    for n in range(50):
        parser.follow(rules(**{f"r{n}": 1}))
    assert list(parser._pools) == ["r49"]


def test_retiring_ends_what_nobody_waits_for_in_every_pool(parser: Parser, timers: ManualTime) -> None:
    waited = [parser.begin(1.0, rule) for rule in ("a", "b", None)]
    for rule in ("a", "b", None):
        parser.begin(1.0, rule).abandon()
    parser.retire()
    assert (parser.counts().busy, parser.counts().queued, timers.pending) == (3, 0, 3)
    timers.pass_s(1.0)
    assert all(parse.over.is_set() for parse in waited)


def test_forgetting_begins_to_count_anew(parser: Parser, timers: ManualTime) -> None:
    parser.begin(1.0, None)
    timers.pass_s(1.0)
    parser.forget()
    assert parser.counts() == UpstreamCounts()


def test_a_bucket_begins_full_and_fills_at_its_rate() -> None:
    time = ManualTime()
    buckets, limit = Buckets(time.monotonic), Limit(2.0, burst=3)
    assert [buckets.take("r", limit, "a") for _ in range(4)] == [0, 0, 0, 0.5]
    time.now_s += 0.5
    assert [buckets.take("r", limit, "b") for _ in range(2)] == [0, 0.5]
    time.now_s += 99
    assert [buckets.take("r", limit, "a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.left() == {"r": 0.0}


def test_each_client_and_each_rule_has_its_own() -> None:
    buckets, limit = Buckets(ManualTime().monotonic), Limit(1.0, by_client=True)
    assert [buckets.take("r", limit, client) for client in "aab"] == [0, 1, 0]
    assert buckets.take("s", limit, "a") == 0


def test_the_bucket_used_longest_ago_is_forgotten_first() -> None:
    buckets, limit = Buckets(ManualTime().monotonic, limit=2), Limit(1.0, by_client=True)
    assert [buckets.take("r", limit, client) for client in "abacab"] == [0, 0, 1, 0, 1, 0]


@given(st.integers(1, 50), st.integers(1, 20), st.lists(st.floats(0, 2), min_size=1, max_size=60))
def test_never_more_than_burst_and_rate_allow(rate: int, burst: int, gaps: list[float]) -> None:
    time = ManualTime()
    buckets, limit = Buckets(time.monotonic), Limit(float(rate), burst)
    begin, passed = time.now_s, 0
    for gap in gaps:
        time.now_s += gap
        wait_s = buckets.take("r", limit, "")
        passed += wait_s == 0
        assert 0 <= wait_s <= 1 / rate + 1e-9
        assert passed <= burst + (time.now_s - begin) * rate + 1e-6


def test_who_waits_as_told_gets_through() -> None:
    time = ManualTime()
    buckets, limit = Buckets(time.monotonic), Limit(3 / 60)
    assert buckets.take("r", limit, "") == 0
    wait_s = buckets.take("r", limit, "")
    assert wait_s == pytest.approx(20)
    time.now_s += wait_s + 1e-6
    assert buckets.take("r", limit, "") == 0


def test_a_lag_counts_from_the_first_question() -> None:
    replicas = Replicas()
    assert [replicas.behind("a", 3, now) for now in (5, 6, 7.9, 8, 9)] == [True, True, True, False, False]
    assert replicas.behind("b", 3, 9)


def test_what_was_asked_for_longest_ago_is_forgotten() -> None:
    replicas = Replicas(limit=1)
    assert replicas.behind("a", 3, 0)
    assert replicas.behind("b", 3, 1)
    assert replicas.behind("a", 3, 10)
