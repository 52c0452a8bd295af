import pytest

from mockapi.rules.model import Rule
from mockapi.upstream.load import UpstreamCounts
from mockapi.upstream.parser import Parser, QueueFull
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
