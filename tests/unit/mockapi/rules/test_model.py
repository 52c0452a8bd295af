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
dos = st.fixed_dictionaries({}, optional={"latency": latencies, "status": statuses, "body": bodies}).filter(bool)


@given(st.lists(dos, max_size=4))
def test_rules_survive_the_way_over_the_api(faults: list[dict[str, Any]]) -> None:
    rules = RULES.validate_python([{"name": str(n), "do": do} for n, do in enumerate(faults)])
    assert RULES.validate_json(RULES.dump_json(rules, exclude_none=True)) == rules


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([{"name": "a", "do": {"body": {"siez": 1}}}], "[0].do.body.siez: unknown key; did you mean 'size'? allowed: "),
        ([{"name": "a", "wen": {}, "do": {"status": 404}}], "[0].wen: unknown key; did you mean 'when'?"),
        ([{"name": "a", "when": {"title": "A"}, "do": {"status": 404}}], "allowed: method, path, wiki, page, revision"),
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
        ([{"name": "a", "do": {}}], "[0].do: no fault (got {}); at least one of latency, status, body"),
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
