from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from mockapi.control.refusal import problems
from mockapi.rules.model import Rule, Rules
from mockapi.wiki.pages.block import Block, most_changed_bytes
from tests.unit.mockapi.faults.planned import plan

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
    assert rule({"latency": "never"}) == rule({"latency": {"never": True}})
    assert rule({"status": 404}, when={"revision": 7}) == rule({"status": 404}, when={"revision": [7]})
    assert rule({"status": 404}, when={"attempt": 2}) == rule({"status": 404}, when={"attempt": {"exactly": 2}})
    assert rule({"status": 404}, when={"probability": "5%"}) == rule(
        {"status": 404}, when={"probability": {"to": 0.05}}
    )
    assert rule({"body": {"size": "20MiB"}}).do.body == rule({"body": {"size": 20 * 1024 * 1024}}).do.body


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


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([{"name": "a", "do": {"body": {"siez": 1}}}], "[0].do.body.siez: unknown key; did you mean 'size'?"),
        ([{"name": "a", "wen": {}, "do": {"status": 404}}], "[0].wen: unknown key; did you mean 'when'?"),
        (
            [{"name": "a", "when": {"title": "A"}, "do": {"status": 404}}],
            "there are: method, path, wiki, page, revision, entity, header",
        ),
        ([{"name": "a", "do": {"latency": {"p5": "1s"}}}], "[0].do.latency.p5: unknown key; did you mean 'p50'?"),
        ([{"name": "a", "do": {"latency": 40}}], "not a duration (got 40); write 40ms or 40s (us, ms, s, m, h, d)"),
        ([{"name": "a", "do": {"latency": {"p50": "1s"}}}], "[0].do.latency: p50 and p99 go together"),
        ([{"name": "a", "do": {"latency": {"p50": "2s", "p99": "1s"}}}], "p50 must be at most p99"),
        ([{"name": "a", "do": {"latency": {"p50": "2s", "p99": "3s", "cap": "1s"}}}], "cap is below p50"),
        ([{"name": "a", "do": {"latency": {"fixed": "2s", "cap": "1s"}}}], "cap without a distribution"),
        (
            [{"name": "a", "do": {"status": 200}}],
            "[0].do.status.code: status 200 is no error (got 200); 400 to 599, or 204 for no content",
        ),
        ([{"name": "a", "do": {"status": {"code": 503, "retry_after": "1500ms"}}}], "not in whole seconds"),
        (
            [{"name": "a", "do": {"body": {"size": -1}}}],
            "[0].do.body.size.fixed: not a size (got -1)",
        ),
        ([{"name": "a", "do": {"body": {}}}], "give size, bomb, encoding or several of them"),
        ([{"name": "a", "do": {"body": {"encoding": "gzip", "changed_bytes": 999}}}], "changed_bytes without size"),
        (
            [{"name": "a", "do": {"body": {"size": 9000, "changed_bytes": 9000}}}],
            "does not fit into a document of 9000",
        ),
        ([{"name": "a", "do": {"body": {"encoding": "gizp"}}}], "or 'identity' (got 'gizp'); did you mean 'gzip'?"),
        ([{"name": "a", "do": {"body": {"size": 9000, "changed": "two"}}}], "must be 'one block' (got 'two')"),
        (
            [{"name": "a", "do": {}}],
            "[0].do: no fault; at least one of rate_limit, latency, ",
        ),
        ([{"name": "a", "do": {"parse": {"p50": "1s"}}}], "[0].do.parse: p50 and p99 go together"),
        ([{"name": "a", "do": {"parse": "never"}}], "[0].do.parse: never is no time here"),
        ([{"name": "a", "do": {"latency": {"fixed": "1s", "never": True}}}], "[0].do.latency: not a time"),
        ([{"name": "a", "do": {"latency": {"uniform": {"from": "2s", "to": "1s"}}}}], "from is above to"),
        ([{"name": "a", "do": {"latency": {"empirical": []}}}], "a histogram without values"),
        (
            [
                {
                    "name": "a",
                    "do": {"latency": {"empirical": [{"up_to": "2s", "count": 1}, {"up_to": "2s", "count": 1}]}},
                }
            ],
            "up_to does not ascend",
        ),
        ([{"name": "a", "do": {"rate_limit": {"rate": "20"}}}], "[0].do.rate_limit.rate: not a rate (got '20')"),
        ([{"name": "a", "do": {"rate_limit": {"rate": "0/s"}}}], "[0].do.rate_limit.rate: not a rate"),
        ([{"name": "a", "do": {"replica_lag": {"for": "2s", "attempts": 1}}}], "either attempts: 2, or for: 3s"),
        ([{"name": "a", "do": {"hidden": {"parts": ["text", "text"]}}}], "a part is there twice"),
        ([{"name": "a", "do": {"hidden": {"parts": ["txt"]}}}], "(got 'txt'); did you mean 'text'?"),
        ([{"name": "a", "do": {"missing": False}}], "[0].do.missing: must be true (got false)"),
        ([{"name": "a", "times": 0, "do": {"status": 404}}], "[0].times: must be greater than or equal to 1"),
        ([{"name": "a", "ttl": "0s", "do": {"status": 404}}], "[0].ttl: must be above 0"),
        ([{"name": "a", "when": {"client": "here"}, "do": {"status": 404}}], "[0].when.client: not an address"),
        ([{"name": "a", "when": {"attempt": {}}, "do": {"status": 404}}], "[0].when.attempt: no number"),
        (
            [{"name": "a", "when": {"nth": {"exactly": 1, "every": 2}}, "do": {"status": 404}}],
            "exactly with another bound",
        ),
        ([{"name": "a", "when": {"nth": {"at_least": 3, "at_most": 2}}, "do": {"status": 404}}], "at_most is below"),
        (
            [{"name": "a", "when": {"probability": {"to": 0.5, "over": "1s"}}, "do": {"status": 404}}],
            "from and over go",
        ),
        ([{"name": "a", "when": {"probability": "0%"}, "do": {"status": 404}}], "[0].when.probability: never true"),
        ([{"name": "a", "do": {"capacity": 0}}], "[0].do.capacity.parses: must be greater than or equal to 1"),
        ([{"name": "a", "do": {"capacity": "4"}}], "[0].do.capacity.parses: must be a whole number (got '4')"),
        ([{"name": "a", "do": {"capacity": True}}], "[0].do.capacity.parses: must be a whole number"),
        ([{"name": "a", "do": {"capacity": {"queue": 4}}}], "[0].do.capacity.parses: is missing"),
        ([{"name": "a", "do": {"capacity": {"parses": 4, "queue": -1}}}], "[0].do.capacity.queue: must be gre"),
        (
            [{"name": "a", "do": {"capacity": {"parses": 4, "overflow": 500}}}],
            "[0].do.capacity.overflow: must be",
        ),
        (
            [{"name": "a", "do": {"capacity": {"parses": 4, "que": 1}}}],
            "do.capacity.que: unknown key; did you mean 'qu",
        ),
        ([{"name": "a", "do": {"gateway_timeout": "0s"}}], "must be above 0 (got '0s'); write for example 10s"),
        ([{"name": "a", "do": {"gateway_timeot": "1s"}}], "unknown key; did you mean 'gateway_timeout'?"),
        (
            [{"name": "a", "when": {"share": 0}, "do": {"status": 404}}],
            "[0].when.share: must be above 0 (got 0)",
        ),
        ([{"name": "a", "when": {"window": {}}, "do": {"status": 404}}], "[0].when.window: window without bounds"),
        (
            [{"name": "a", "when": {"window": {"fro": "3s"}}, "do": {"status": 404}}],
            "[0].when.window.fro: unknown key; did you mean 'from'?",
        ),
        (
            [{"name": "a", "when": {"window": {"for": "0s"}}, "do": {"status": 404}}],
            "[0].when.window.for: must be above 0",
        ),
        ([{"do": {"status": 404}}], "[0].name: is missing"),
        (
            [{"name": "a", "when": {"method": "GTE"}, "do": {"status": 404}}],
            "(got 'GTE'); did you mean 'GET'?",
        ),
        ([{"name": "a", "do": {"status": 404}}] * 2, "rule name 'a' is there twice"),
        *(
            ([{"name": name, "do": {"status": 404}}], "[0].name: not a name for a rule")
            for name in ("a\nb", "a\x00", "\x7f", ".", "..")
        ),
        (
            [{"name": "a", "when": {"revision": "7"}, "do": {"status": 404}}],
            "[0].when.revision[0]: must be a whole number (got '7')",
        ),
        ([{"name": "a", "when": {"revision": []}, "do": {"status": 404}}], "[0].when.revision: must not be empty"),
        ([{"name": "a", "do": {"capacity": {"parses": 1, "overflow": 500}}}], "must be 503 or 429 (got 500)"),
        ({"rules": []}, "must be a list (got a mapping)"),
        ([["a"]], "[0]: must be a mapping of keys to values (got a list)"),
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


@given(st.integers(0, 200_000))
def test_the_default_block_fits_every_document(size: int) -> None:
    assert plan({"body": {"size": size}}).document == Block(size, min(65_536, most_changed_bytes(size)))
