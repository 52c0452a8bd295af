"""What rules may say, and the book of them; what is refused is in tests/unit/golden/mock_rules.txt."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from mockapi.rules.book import RuleBook
from mockapi.rules.matching import Subject, Target
from mockapi.rules.model import Rule, Rules
from mockapi.server.request import Request
from mockapi.wiki.pages.block import Block, most_changed_bytes
from tests.unit.mockapi.faults.planned import plan
from tests.unit.mockapi.manual_time import ManualTime

RULES: TypeAdapter[tuple[Rule, ...]] = TypeAdapter(Rules)


@pytest.fixture
def changes() -> list[list[str]]:
    """The names effective, each time the book told of a change."""
    return []


@pytest.fixture
def book(time: ManualTime, changes: list[list[str]]) -> RuleBook:
    made = RuleBook(1, time.monotonic, time.later, lambda rules: changes.append([rule.name for rule in rules]))
    made.begin()
    return made


def rule(name: str = "r", when: dict[str, Any] | None = None, **rest: Any) -> Rule:
    return Rule.model_validate({"name": name, "when": when or {}, "do": {"status": 404}, **rest})


def asked(revision: int = 1, attempt: int = 1, at_s: float = 0.0) -> Subject:
    request = Request("GET", "/p", "/p", "", {}, "127.0.0.1")
    return Subject(request, (Target("enwiki", "T", 1, revision),), key=str(revision), attempt=attempt, at_s=at_s)


def names(rules: tuple[Rule, ...]) -> list[str]:
    return [one.name for one in rules]


def test_all_that_match_apply_in_order(book: RuleBook) -> None:
    book.replace([rule("b"), rule("no", {"wiki": "dewiki"}), rule("a", {"page": "T"})])
    assert names(book.match(asked())) == ["b", "a"]


def test_a_rule_ends_after_its_ttl_and_is_still_listed(
    book: RuleBook, time: ManualTime, changes: list[list[str]]
) -> None:
    book.replace([rule("short", ttl="3s"), rule("long")])
    time.pass_s(2.9)
    assert names(book.match(asked())) == ["short", "long"]
    assert book.statuses()[0].ttl_remaining_s == pytest.approx(0.1)
    time.pass_s(0.1)
    assert names(book.match(asked())) == ["long"]
    assert names(book.rules) == ["short", "long"]
    assert [one.phase for one in book.statuses()] == ["expired", "effective"]
    assert changes == [["short", "long"], ["long"]]


def test_a_ttl_that_began_before_the_loop_goes_on(time: ManualTime, changes: list[list[str]]) -> None:
    book = RuleBook(1, time.monotonic, time.later, lambda rules: changes.append([one.name for one in rules]))
    book.replace([rule(ttl="3s")])
    assert time.pending == 0
    time.pass_s(1)
    book.begin()
    time.pass_s(2)
    assert changes == [["r"], []]


def test_a_rule_fires_so_many_times(book: RuleBook, changes: list[list[str]]) -> None:
    book.replace([rule(times=2, when={"revision": 1})])
    assert [len(book.match(asked(revision))) for revision in (1, 2, 1, 1)] == [1, 0, 1, 0]
    (status,) = book.statuses()
    assert (status.phase, status.fired, status.matched, status.times_remaining) == ("spent", 2, 2, 0)
    assert changes[-1] == []


@pytest.mark.parametrize(
    ("nth", "fires"),
    [(2, "-x----"), ({"every": 2}, "x-x-x-"), ({"at_least": 2, "every": 2}, "-x-x-x"), ({"at_most": 3}, "xxx---")],
)
def test_nth_counts_the_requests_that_fit_the_rest(book: RuleBook, nth: object, fires: str) -> None:
    book.replace([rule(when={"nth": nth, "revision": 1})])
    seen = ""
    for _ in fires:
        assert not book.match(asked(2))
        seen += "x" if book.match(asked(1)) else "-"
    assert seen == fires


def test_a_look_counts_nothing(book: RuleBook) -> None:
    book.replace([rule(times=1)])
    assert names(book.peek(asked())) == names(book.peek(asked())) == ["r"]
    assert names(book.match(asked())) == ["r"]
    assert book.peek(asked()) == ()


def test_switching_keeps_the_count_and_putting_begins_anew(book: RuleBook) -> None:
    book.replace([rule("a", times=2), rule("b")])
    book.match(asked())
    book.switch("a", on=False)
    assert names(book.match(asked())) == ["b"]
    assert book.statuses()[0].phase == "switched off"
    book.switch("a", on=True)
    assert names(book.match(asked())) == ["a", "b"]
    assert names(book.match(asked())) == ["b"]
    book.put(rule("a", times=1))
    assert names(book.match(asked())) == ["a", "b"]
    assert book.statuses()[1].fired == 5


def test_a_rule_that_is_switched_off_from_the_start_does_nothing(book: RuleBook) -> None:
    book.replace([rule(enabled=False)])
    assert book.match(asked()) == ()


def test_removing_ends_the_timer(book: RuleBook, time: ManualTime) -> None:
    book.replace([rule("a", ttl="3s"), rule("b")])
    book.remove("a")
    assert names(book.rules) == ["b"]
    assert time.pending == 0
    with pytest.raises(KeyError):
        book.remove("a")


def test_a_rule_that_did_not_fire_is_explained(book: RuleBook, time: ManualTime) -> None:
    book.replace(
        [rule("other", {"revision": 2}), rule("third", {"nth": 3}), rule("short", ttl="1s"), rule("off", enabled=False)]
    )
    fired = names(book.match(asked()))
    assert fired == ["short"]
    time.pass_s(2)
    answer = {name: book.explain(name, asked(), fired) for name in ("other", "third", "short", "off")}
    assert [(one.key, one.wanted, one.got) for one in answer["other"]] == [("revision", "(2,)", "1")]
    assert [one.key for one in answer["third"]] == ["nth"]
    assert answer["short"] == ()
    assert [one.got for one in answer["off"]] == ["switched off"]
    assert [one.got for one in book.explain("short", asked(), ())] == ["expired"]


def test_a_window_begins_when_its_rule_came_into_force_if_that_was_later(time: ManualTime) -> None:
    """So a rule that is added to a wiki that has been asked for an hour has its window still before it."""
    since_first: list[float | None] = [None]
    book = RuleBook(1, time.monotonic, time.later, elapsed=lambda: since_first[0])
    window = {"window": {"from": "2s", "for": "3s"}}
    book.replace([rule("before", window)])
    since_first[0] = 3600.0
    book.put(rule("late", window))
    of_before = [names(book.match(asked(at_s=at_s))) for at_s in (1.9, 2.0, 4.9, 5.0)]
    of_late = [names(book.match(asked(at_s=at_s))) for at_s in (3601.9, 3602.0, 3604.9, 3605.0)]
    assert of_before == [[], ["before"], ["before"], []]
    assert of_late == [[], ["late"], ["late"], []]
    assert (book.age_s("before", 3610.0), book.age_s("late", 3610.0), book.age_s("gone", 3610.0)) == (3610, 10, 3610)


def rule_that_does(do: dict[str, Any], **rest: Any) -> Rule:
    return Rule.model_validate({"name": "r", "do": do, **rest})


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"latency": "40ms"}, {"latency": {"fixed": "40ms"}}),
        ({"latency": "never"}, {"latency": {"never": True}}),
        ({"status": 504}, {"status": {"code": 504}}),
        ({"parse": "40ms"}, {"parse": {"fixed": "40ms"}}),
        ({"capacity": 4}, {"capacity": {"parses": 4, "overflow": 503}}),
        ({"body": {"size": "20MiB"}}, {"body": {"size": 20 * 1024 * 1024}}),
    ],
)
def test_a_short_form_of_a_fault_means_the_long_one(short: dict[str, Any], long: dict[str, Any]) -> None:
    assert rule_that_does(short) == rule_that_does(long)


@pytest.mark.parametrize(
    ("key", "short", "long"),
    [("share", "1%", 0.01), ("revision", 7, [7]), ("attempt", 2, {"exactly": 2}), ("probability", "5%", {"to": 0.05})],
)
def test_a_short_form_of_a_condition_means_the_long_one(key: str, short: object, long: object) -> None:
    assert rule_that_does({"status": 404}, when={key: short}) == rule_that_does({"status": 404}, when={key: long})


def test_the_worked_example_of_a_huge_page() -> None:
    huge = rule_that_does(
        {"body": {"size": 17_300_219, "changed": "one block", "encoding": "gzip"}}, when={"page": "Huge"}
    )
    assert huge.do.body is not None
    assert huge.do.body.document(17_300_219) == Block(17_300_219, 65_536)


durations = st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(hours=1))
finite = st.one_of(
    durations.map(lambda fixed: {"fixed": fixed}),
    st.tuples(durations, durations).map(lambda pair: {"uniform": {"from": min(pair), "to": max(pair)}}),
    st.sets(durations, min_size=1, max_size=4).map(
        lambda bounds: {"empirical": [{"up_to": bound, "count": 1} for bound in sorted(bounds)]}
    ),
    st.tuples(durations, durations).map(lambda pair: {"p50": min(pair), "p99": max(pair), "cap": max(pair)}),
)
latencies = finite | st.just("never")
bodies = st.integers(4096, 10**8).map(lambda size: {"size": size, "encoding": "gzip"})
statuses = st.sampled_from([204, *range(400, 600)]) | st.builds(
    lambda code: {"code": code, "body": "x"}, st.integers(400, 599)
)
capacities = st.integers(1, 99) | st.fixed_dictionaries(
    {"parses": st.integers(1, 99)}, optional={"queue": st.integers(0, 999), "overflow": st.sampled_from([503, 429])}
)
dos = st.fixed_dictionaries(
    {},
    optional={
        "latency": latencies,
        "status": statuses,
        "body": bodies,
        "latency_through_body": latencies,
        "parse": finite,
        "capacity": capacities,
        "gateway_timeout": durations,
        "rate_limit": st.builds(
            lambda n, burst: {"rate": f"{n}/s", "burst": burst}, st.integers(1, 99), st.integers(1, 9)
        ),
        "degradation": st.builds(lambda adds, over: {"adds": adds, "over": over}, durations, durations),
        "missing": st.just(True),
        "hidden": st.sets(st.sampled_from(["text", "user", "comment"]), min_size=1).map(lambda p: {"parts": sorted(p)}),
        "replica_lag": st.just({"attempts": 2}) | durations.map(lambda d: {"for": d}),
        "database_lag": finite,
    },
).filter(bool)
numbers = st.integers(1, 9) | st.builds(
    lambda n, m: {"at_least": n, "at_most": n + m}, st.integers(1, 9), st.integers(0, 9)
)
shares = st.floats(1e-9, 1)
whens = st.fixed_dictionaries(
    {},
    optional={
        "revision": st.lists(st.integers(1, 99), min_size=1, max_size=3) | st.integers(1, 99),
        "header": st.dictionaries(st.sampled_from(["x-a", "X-B"]), st.booleans() | st.text(max_size=3), min_size=1),
        "json": st.dictionaries(
            st.sampled_from(["/a", "/a/0", "/a~1b/"]),
            st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just({"present": False}),
            min_size=1,
        ),
        "client": st.sampled_from(["127.0.0.1", "10.0.0.0/8", "::1"]),
        "attempt": numbers,
        "nth": numbers,
        "probability": shares | st.builds(lambda p, d: {"from": 0.0, "to": p, "over": d}, shares, durations),
        "share": shares,
        "share_of_revisions": shares,
        "window": st.builds(lambda d: {"from": d, "for": d}, durations),
    },
)


@given(st.lists(st.tuples(whens, dos), max_size=4))
def test_rules_survive_the_way_over_the_api(written: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    rules = RULES.validate_python([{"name": str(n), "when": when, "do": do} for n, (when, do) in enumerate(written)])
    assert RULES.validate_json(RULES.dump_json(rules, exclude_none=True, by_alias=True)) == rules


@pytest.mark.parametrize(
    ("window", "seconds"), [({"from": "3s"}, (3, None)), ({"for": "6s"}, (0, 6)), ({"from": "3s", "for": "6s"}, (3, 6))]
)
def test_a_window_has_a_beginning_or_an_end_or_both(window: dict[str, str], seconds: tuple[int, int | None]) -> None:
    made = rule_that_does({"status": 404}, when={"window": window}).when.window
    assert made is not None
    assert (made.from_, made.for_) == tuple(None if one is None else timedelta(seconds=one) for one in seconds)


@given(st.integers(0, 200_000))
def test_the_default_block_fits_every_document(size: int) -> None:
    assert plan({"body": {"size": size}}).document == Block(size, min(65_536, most_changed_bytes(size)))
