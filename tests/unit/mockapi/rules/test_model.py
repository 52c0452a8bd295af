"""What rules may say; what is refused is in tests/unit/golden/mock_rules.txt."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from mockapi.rules.model import Rule, Rules
from mockapi.wiki.pages.block import Block, most_changed_bytes
from tests.unit.mockapi.faults.planned import plan

RULES: TypeAdapter[tuple[Rule, ...]] = TypeAdapter(Rules)


def rule(do: dict[str, Any], **rest: Any) -> Rule:
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
    assert rule(short) == rule(long)


@pytest.mark.parametrize(
    ("key", "short", "long"),
    [("share", "1%", 0.01), ("revision", 7, [7]), ("attempt", 2, {"exactly": 2}), ("probability", "5%", {"to": 0.05})],
)
def test_a_short_form_of_a_condition_means_the_long_one(key: str, short: object, long: object) -> None:
    assert rule({"status": 404}, when={key: short}) == rule({"status": 404}, when={key: long})


def test_the_worked_example_of_a_huge_page() -> None:
    huge = rule({"body": {"size": 17_300_219, "changed": "one block", "encoding": "gzip"}}, when={"page": "Huge"})
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
    made = rule({"status": 404}, when={"window": window}).when.window
    assert made is not None
    assert (made.from_, made.for_) == tuple(None if one is None else timedelta(seconds=one) for one in seconds)


@given(st.integers(0, 200_000))
def test_the_default_block_fits_every_document(size: int) -> None:
    assert plan({"body": {"size": size}}).document == Block(size, min(65_536, most_changed_bytes(size)))
