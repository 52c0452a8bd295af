from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from mockapi.pages.block import most_changed_bytes
from mockapi.problems import problems
from mockapi.rules.model import Rule, Rules

RULES: TypeAdapter[tuple[Rule, ...]] = TypeAdapter(Rules)


def rule(do: dict[str, Any], **rest: Any) -> Rule:
    return Rule.model_validate({"name": "r", "do": do, **rest})


def lines(document: object) -> list[str]:
    """The problems that a person sees."""
    with pytest.raises(ValidationError) as raised:
        RULES.validate_python(document)
    return [str(problem) for problem in problems(raised.value, Rules)]


def test_short_forms_mean_the_long_ones() -> None:
    assert rule({"latency": "40ms"}) == rule({"latency": {"fixed": "40ms"}})
    assert rule({"status": 504}) == rule({"status": {"code": 504}})
    assert rule({"parse": "40ms"}) == rule({"parse": {"fixed": "40ms"}})
    assert rule({"capacity": 4}) == rule({"capacity": {"parses": 4, "overflow": 503}})
    assert rule({"status": 404}, when={"share": "1%"}) == rule({"status": 404}, when={"share": 0.01})
    assert rule({"body": {"size": "20MiB"}}).do.body == rule({"body": {"size": 20 * 1024 * 1024}}).do.body


def test_the_worked_example_of_a_huge_page() -> None:
    huge = rule({"body": {"size": 17_300_219, "changed": "one block", "encoding": "gzip"}}, when={"page": "Huge"})
    assert huge.do.body is not None
    assert (huge.do.body.size, huge.do.body.block_bytes) == (17_300_219, 65_536)


durations = st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(hours=1))
latencies = st.one_of(
    durations.map(lambda fixed: {"fixed": fixed}),
    st.tuples(durations, durations).map(lambda pair: {"p50": min(pair), "p99": max(pair), "cap": max(pair)}),
)
bodies = st.integers(4096, 10**8).map(lambda size: {"size": size, "encoding": "gzip"})
statuses = st.integers(400, 599) | st.builds(lambda code: {"code": code, "body": "x"}, st.integers(400, 599))
capacities = st.integers(1, 99) | st.fixed_dictionaries(
    {"parses": st.integers(1, 99)}, optional={"queue": st.integers(0, 999), "overflow": st.sampled_from([503, 429])}
)
dos = st.fixed_dictionaries(
    {},
    optional={
        "latency": latencies,
        "status": statuses,
        "body": bodies,
        "parse": latencies,
        "capacity": capacities,
        "gateway_timeout": durations,
    },
).filter(bool)
whens = st.fixed_dictionaries(
    {}, optional={"share": st.floats(1e-9, 1), "window": st.builds(lambda d: {"from": d, "for": d}, durations)}
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


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([{"name": "a", "do": {"body": {"siez": 1}}}], "[0].do.body.siez: unknown key; did you mean 'size'? allowed: "),
        ([{"name": "a", "wen": {}, "do": {"status": 404}}], "[0].wen: unknown key; did you mean 'when'?"),
        (
            [{"name": "a", "when": {"title": "A"}, "do": {"status": 404}}],
            "allowed: method, path, wiki, page, revision, share",
        ),
        ([{"name": "a", "do": {"latency": {"p5": "1s"}}}], "[0].do.latency.p5: unknown key; did you mean 'p50'?"),
        ([{"name": "a", "do": {"latency": 40}}], "not a duration (got 40); a number with its unit"),
        ([{"name": "a", "do": {"latency": {"p50": "1s"}}}], "either a duration, or both p50 and p99"),
        ([{"name": "a", "do": {"latency": {"p50": "2s", "p99": "1s"}}}], "p50 must be above 0 and at most p99"),
        ([{"name": "a", "do": {"latency": {"p50": "2s", "p99": "3s", "cap": "1s"}}}], "cap is below p50"),
        ([{"name": "a", "do": {"latency": {"fixed": "2s", "cap": "1s"}}}], "cap without p50 and p99"),
        ([{"name": "a", "do": {"status": 200}}], "[0].do.status.code: input should be greater than or equal to 400"),
        ([{"name": "a", "do": {"status": {"code": 503, "retry_after": "1500ms"}}}], "not in whole seconds"),
        ([{"name": "a", "do": {"body": {"size": 100}}}], "[0].do.body.size: input should be greater than or equal"),
        ([{"name": "a", "do": {"body": {}}}], "give size, encoding or both"),
        ([{"name": "a", "do": {"body": {"encoding": "gzip", "changed_bytes": 999}}}], "changed_bytes without size"),
        (
            [{"name": "a", "do": {"body": {"size": 9000, "changed_bytes": 9000}}}],
            "does not fit into a document of 9000",
        ),
        ([{"name": "a", "do": {"body": {"encoding": "gizp"}}}], "'gizp' is not allowed; did you mean 'gzip'?"),
        ([{"name": "a", "do": {"body": {"size": 9000, "changed": "two"}}}], "'two' is not allowed; allowed: one block"),
        (
            [{"name": "a", "do": {}}],
            "[0].do: no fault (got {}); at least one of latency, status, body, parse, capacity, gate",
        ),
        ([{"name": "a", "do": {"parse": {"p50": "1s"}}}], "[0].do.parse: not a time"),
        ([{"name": "a", "do": {"capacity": 0}}], "[0].do.capacity.parses: input should be greater than or equal to 1"),
        ([{"name": "a", "do": {"capacity": "4"}}], "[0].do.capacity.parses: input should be a valid integer (got '4')"),
        ([{"name": "a", "do": {"capacity": True}}], "[0].do.capacity.parses: input should be a valid integer"),
        ([{"name": "a", "do": {"capacity": {"queue": 4}}}], "[0].do.capacity.parses: missing; add this key"),
        ([{"name": "a", "do": {"capacity": {"parses": 4, "queue": -1}}}], "[0].do.capacity.queue: input should be gre"),
        ([{"name": "a", "do": {"capacity": {"parses": 4, "overflow": 500}}}], "[0].do.capacity.overflow: 500 is not"),
        (
            [{"name": "a", "do": {"capacity": {"parses": 4, "que": 1}}}],
            "do.capacity.que: unknown key; did you mean 'qu",
        ),
        ([{"name": "a", "do": {"gateway_timeout": "0s"}}], "a duration of 0 (got '0s'); above 0, such as 40ms or 10s"),
        ([{"name": "a", "do": {"gateway_timeot": "1s"}}], "unknown key; did you mean 'gateway_timeout'?"),
        ([{"name": "a", "when": {"share": 1}, "do": {"status": 404}}], "[0].when.share: not a share (got 1); above 0%"),
        ([{"name": "a", "when": {"window": {}}, "do": {"status": 404}}], "[0].when.window: window without bounds"),
        (
            [{"name": "a", "when": {"window": {"fro": "3s"}}, "do": {"status": 404}}],
            "[0].when.window.fro: unknown key; did you mean 'from'? allowed: from, for",
        ),
        (
            [{"name": "a", "when": {"window": {"for": "0s"}}, "do": {"status": 404}}],
            "[0].when.window.for: a duration of 0",
        ),
        ([{"do": {"status": 404}}], "[0].name: missing; add this key"),
        (
            [{"name": "a", "when": {"method": "GTE"}, "do": {"status": 404}}],
            "'GTE' is not allowed; did you mean 'GET'?",
        ),
        ([{"name": "a", "do": {"status": 404}}] * 2, "rule name 'a' is there twice"),
    ],
)
def test_a_refusal_says_place_value_and_remedy(document: object, expected: str) -> None:
    (line,) = lines(document)
    assert expected in line


def test_all_problems_are_told_at_once() -> None:
    found = lines(
        [{"name": "a", "do": {"latency": "soon", "status": 99}}, {"name": "", "do": {"body": {"size": "1XB"}}}]
    )
    assert len(found) == 4


@given(st.integers(4096, 200_000))
def test_the_default_block_fits_every_document(size: int) -> None:
    body = rule({"body": {"size": size}}).do.body
    assert body is not None
    assert body.block_bytes == min(65_536, most_changed_bytes(size))
