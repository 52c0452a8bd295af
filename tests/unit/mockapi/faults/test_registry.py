"""Faults by name, and what one cannot be. More of that is in tests/unit/golden/mock_rules.txt."""

from dataclasses import replace
from datetime import timedelta
from statistics import quantiles
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.faults.registry import FAULTS
from mockapi.plan import NOTHING
from mockapi.rules.model import Do
from tests.unit.mockapi.faults.planned import plan, problem

BUCKETS = [{"up_to": "1s", "count": 0}, {"up_to": "2s", "count": 3}, {"up_to": "9s", "count": 1}]
SLOW = {"latency": {"p50": "40ms", "p99": "2s", "cap": "10s"}}


def test_every_fault_a_rule_can_name_is_registered() -> None:
    assert list(FAULTS) == list(Do.model_fields)


@pytest.mark.parametrize("name", FAULTS)
def test_the_example_of_a_fault_is_one(name: str) -> None:
    fault = FAULTS[name]
    made = plan({name: fault.example})
    assert made != replace(NOTHING, rules=("r0",)) or name in {"degradation", "refuse"}
    assert fault.summary


def test_different_faults_add_up_and_the_last_of_a_kind_decides() -> None:
    made = plan(
        {"latency": "1s", "status": 503}, {"latency": "2s"}, {"body": {"size": 9000}}, {"body": {"encoding": "gzip"}}
    )
    assert plan() == NOTHING
    assert made.rules == ("r0", "r1", "r2", "r3")
    assert made.latency == timedelta(seconds=2)
    assert made.status is not None
    assert made.status.code == 503
    assert made.body is not None
    assert (made.body.document, made.body.coding) == (None, "gzip")
    assert made.draws == {"latency_s": 2.0}


@given(st.integers(0, 2**64), st.text(max_size=9), st.integers(1, 9))
def test_a_draw_is_a_function_of_its_arguments_and_bounded(seed: int, key: str, attempt: int) -> None:
    made = plan(SLOW, seed=seed, key=key, attempt=attempt)
    assert made == plan(SLOW, seed=seed, key=key, attempt=attempt)
    assert made.latency is not None
    assert timedelta(0) < made.latency <= timedelta(seconds=10)
    assert made.draws == {"latency_s": made.latency.total_seconds()}


def test_seed_key_attempt_and_rule_name_each_change_the_draw() -> None:
    others = [plan(SLOW, seed=2), plan(SLOW, key="28673"), plan(SLOW, attempt=2), plan({"status": 404}, SLOW)]
    assert len({made.latency for made in (plan(SLOW), *others)}) == 5


def test_the_percentiles_are_those_of_the_rule_and_the_cap_cuts_the_slow_end_off() -> None:
    cuts = quantiles((plan(SLOW, key=str(n)).draws["latency_s"] for n in range(3_000)), n=100)
    assert cuts[49] == pytest.approx(0.040, rel=0.15)
    assert cuts[98] == pytest.approx(2.0, rel=0.35)
    capped = {"latency": SLOW["latency"] | {"cap": "100ms"}}
    assert max(plan(capped, key=str(n)).draws["latency_s"] for n in range(300)) == 0.1


def test_parse_and_latency_of_a_rule_are_drawn_apart() -> None:
    made = plan({**SLOW, "parse": SLOW["latency"]})
    assert made.parse is not None
    assert made.parse != made.latency
    assert made.latency is not None
    assert made.draws == {"latency_s": made.latency.total_seconds(), "parse_s": made.parse.total_seconds()}
    assert made == plan({**SLOW, "parse": SLOW["latency"]})


def test_the_last_capacity_and_the_last_gateway_decide() -> None:
    made = plan({"capacity": 1, "gateway_timeout": "1s"}, {"capacity": 2, "gateway_timeout": "2s"}, {"parse": "1s"})
    assert (made.capacity, made.gateway_timeout) == ("r1", timedelta(seconds=2))
    assert made.draws == {"parse_s": 1.0}
    assert (plan({"parse": "0s"}).parse, plan({"latency": "1s"}).parse) == (timedelta(0), None)


def test_for_ever_is_drawn_as_minus_one() -> None:
    made = plan({"latency": "never", "latency_before_body": "never"})
    assert (made.latency, made.delivery.before_body) == (None, None)
    assert made.draws == {"latency_s": -1.0, "latency_before_body_s": -1.0}


@pytest.mark.parametrize(
    ("time", "low", "high"),
    [
        ({"uniform": {"from": "1s", "to": "3s"}}, 1.0, 3.0),
        ({"p50": "1s", "p99": "2s", "cap": "1200ms"}, 0.4, 1.2),
        ({"empirical": BUCKETS}, 1.0, 9.0),
    ],
)
def test_a_distribution_keeps_its_bounds_and_uses_them(time: dict[str, Any], low: float, high: float) -> None:
    waits = [plan({"latency": time}, key=str(n)).draws["latency_s"] for n in range(400)]
    assert low <= min(waits) < low + 0.1 * (high - low)
    assert high - 0.1 * (high - low) < max(waits) <= high


def test_a_histogram_is_drawn_in_its_shares() -> None:
    buckets = [{"up_to": "40ms", "count": 900}, {"up_to": "1s", "count": 90}, {"up_to": "10s", "count": 10}]
    waits = [plan({"latency": {"empirical": buckets}}, key=str(n)).draws["latency_s"] for n in range(2_000)]
    assert sum(wait <= 0.04 for wait in waits) == pytest.approx(1_800, abs=54)
    assert sum(wait > 1 for wait in waits) == pytest.approx(20, abs=18)


@pytest.mark.parametrize(("age_s", "added"), [(0, 0), (10, 0), (25, 2.5), (40, 5), (99, 5)])
def test_degradation_grows_with_time_on_top_of_latency(age_s: float, added: float) -> None:
    made = plan({"latency": "1s", "degradation": {"adds": "5s", "over": "30s", "after": "10s"}}, age_s=age_s)
    assert made.latency == timedelta(seconds=1 + added)


def test_hidden_parts_add_up() -> None:
    made = plan({"hidden": {"parts": ["text"]}}, {"hidden": {"parts": ["user"], "suppressed": True}})
    assert (made.state.hidden, made.state.suppressed) == ({"text", "user"}, True)


def test_a_replica_is_behind_for_so_many_attempts_or_for_a_time_that_the_player_of_the_request_counts() -> None:
    lags = [plan({"replica_lag": {"attempts": 2}}, attempt=attempt) for attempt in (1, 2, 3)]
    assert [made.state.missing for made in lags] == [True, True, False]
    state = plan({"replica_lag": {"for": "3s"}}).state
    assert (state.missing, state.unknown_for) == (False, ("r0", timedelta(seconds=3)))


def test_every_bucket_has_to_be_passed() -> None:
    made = plan({"rate_limit": {"rate": "20/s"}}, {"rate_limit": {"rate": "120/m", "burst": 9, "by": "client"}})
    assert [(rule, limit.rate_per_s, limit.burst) for rule, limit in made.limits] == [("r0", 20.0, 1), ("r1", 2.0, 9)]


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"body": {}}, "do.body: body without effect"),
        ({"body": {"size": 1, "bomb": 1}}, "both size and bomb"),
        ({"body": {"incompressible": 1, "bomb": 1}}, "both bomb and incompressible"),
        ({"body": {"size": "2GiB"}}, "do.body.size.fixed: must be less than or equal to 1073741824"),
        ({"body": {"bomb": -1}}, "do.body.bomb: not a size (got -1)"),
        ({"body": {"size": {"p50": 1}}}, "one of: a size, p50 with p99 and an optional cap, uniform"),
        ({"body": {"size": {"p50": 9, "p99": 3}}}, "swap them?"),
        ({"body": {"size": {"p50": 9, "p99": 30, "cap": 3}}}, "cap is below p50"),
        ({"body": {"size": {"fixed": 9, "cap": 30}}}, "cap without p50 and p99"),
        ({"body": {"size": {"uniform": {"from": 9, "to": 3}}}}, "from is above to"),
        ({"body": {"encoding": "lzma"}}, "or 'identity' (got 'lzma')"),
        ({"body": {"size": 9, "force": True}}, "force without a coding"),
        ({"body": {"encoding": "identity", "force": True}}, "force without a coding"),
        ({"body": {"encoding": "gzip", "changed_bytes": 999}}, "changed_bytes without size"),
        (
            {"body": {"size": 9000, "changed_bytes": 9000}},
            "changed_bytes 9000 does not fit into a document of 9000 bytes",
        ),
        ({"content_length": {}}, "not a wrong length"),
        ({"content_length": {"off_by": 0}}, "not a wrong length"),
        ({"content_length": {"says": "absent", "off_by": 1}}, "not a wrong length"),
        ({"content_length": "compressed", "body": {"encoding": "br"}}, "`compressed` means that the body is plain"),
        ({"content_length": "absent", "malformed_chunk": {}}, "a chunked body has no Content-Length"),
        ({"invalid_utf8": 0}, "greater than or equal to 1"),
        ({"invalid_utf8": {"bytes": 1, "at": "end"}}, "not a place in an answer"),
        ({"invalid_utf8": 1, "body": {"encoding": "br"}}, "a broken document goes out without a coding"),
        ({"bandwidth": 0}, "greater than or equal to 1"),
        ({"dribble": {"bytes": 0, "every": "1s"}}, "greater than or equal to 1"),
        ({"dribble": {"bytes": 1, "every": "0s"}}, "must be above 0"),
        ({"dribble": {"bytes": 1, "every": "1s"}, "bandwidth": "1KiB"}, "a body has one pace"),
        ({"garbage": {"bytes": 0}}, "greater than or equal to 1"),
        ({"garbage": {"bytes": "2MiB"}}, "less than or equal to 1048576"),
        ({"keep_alive": 0}, "greater than or equal to 1"),
        ({"close": {"after": 5}}, "it needs at: in headers, or at: in body"),
        ({"reset": {"after": 5}}, "it needs at: in headers, or at: in body"),
        ({"close": {}, "truncate": "50%"}, "an answer ends in one way"),
        ({"hang": True, "status": 503}, "hang and status in one rule"),
        ({"hang": True, "latency": "1s"}, "hang and latency in one rule"),
        ({"hang": True, "reset": {}}, "hang and reset in one rule"),
        ({"refuse": "5s", "status": 503}, "refuse and status in one rule"),
        ({"status": {"code": 503, "headers": {"Content-Length": "1"}}}, "the fault content_length"),
        ({"status": {"code": 503, "headers": {"content-encoding": "br"}}}, "the fault content_encoding"),
        ({"status": {"code": 503, "headers": {"X-A": "1", "x-a": "2"}}}, "two headers x-a"),
        (
            {"status": {"code": 503, "headers": {"Retry-After": "1"}, "retry_after": "5s"}},
            "retry_after and a header Retry-After",
        ),
        ({"error": "ratelimit"}, "did you mean 'ratelimited'?"),
        ({"error": "internal_api_error_"}, "did you mean 'internal_api_error_DBQueryError'?"),
        ({"error": "internal_api_error_a b"}, "no error 'internal_api_error_a b' of MediaWiki"),
        ({"error": "missingtitle"}, "there are: ratelimited, readonly, maxlag"),
        ({"error": "readonly", "status": 503}, "a request has one answer"),
    ],
    ids=str,
)
def test_a_fault_that_cannot_be_is_refused_with_a_reason(do: dict[str, Any], message: str) -> None:
    assert message in problem(do)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"hang": False}, "do.hang: "),
        ({"charset": "a; b"}, "do.charset.says: "),
        ({"content_encoding": "gz\r\nx: y"}, "do.content_encoding.says: "),
        ({"content_length": "long"}, "do.content_length.says: must be 'compressed', "),
        ({"truncate": {}}, "do.truncate.after: is missing"),
        ({"close": "in the middle"}, "do.close.at: must be 'before headers', 'in"),
        ({"reset": "in the middle"}, "do.reset.at: must be 'before headers', 'in"),
        ({"malformed_chunk": "bad"}, "do.malformed_chunk.how: must be 'not hex', 'negative'"),
        ({"proxy_page": 500}, "do.proxy_page.code: "),
        ({"proxy_page": {"body": "xml"}}, "do.proxy_page.body: "),
        ({"proxy_page": 200, "status": 404}, "do: status and proxy_page in one rule"),
        ({"status": {"code": 503, "headers": {}}}, "do.status.headers"),
        ({"status": {"code": 503, "headers": {"X Y": "1"}}}, "do.status.headers.X Y"),
        ({"status": {"code": 503, "headers": {"X-A": "a\r\nX-B: b"}}}, "do.status.headers.X-A"),
    ],
    ids=str,
)
def test_a_refusal_begins_with_the_place(do: dict[str, Any], message: str) -> None:
    assert problem(do).startswith(message)
