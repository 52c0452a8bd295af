from datetime import timedelta
from statistics import quantiles
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.faults import FAULTS, plan_for
from mockapi.faults.plan import NOTHING, Plan
from mockapi.rules.model import Do, Rule

SLOW = {"latency": {"p50": "40ms", "p99": "2s", "cap": "10s"}}


def plan(*dos: dict[str, Any], seed: int = 1, key: str = "28674", attempt: int = 1) -> Plan:
    rules = [Rule.model_validate({"name": f"r{n}", "do": do}) for n, do in enumerate(dos)]
    return plan_for(rules, seed=seed, key=key, attempt=attempt)


def test_every_fault_a_rule_can_name_is_registered() -> None:
    assert list(FAULTS) == list(Do.model_fields)


def test_no_rule_no_fault() -> None:
    assert plan() == NOTHING


def test_different_faults_add_up_and_the_last_of_a_kind_decides() -> None:
    made = plan(
        {"latency": "1s", "status": 503}, {"latency": "2s"}, {"body": {"size": 9000}}, {"body": {"encoding": "gzip"}}
    )
    assert made.rules == ("r0", "r1", "r2", "r3")
    assert made.latency == timedelta(seconds=2)
    assert made.status is not None
    assert made.status.code == 503
    assert made.body is not None
    assert (made.body.size, made.body.encoding) == (None, "gzip")
    assert made.draws == {"latency_s": 2.0}


@given(st.integers(0, 2**64), st.text(max_size=9), st.integers(1, 9))
def test_a_draw_is_a_function_of_its_arguments_and_bounded(seed: int, key: str, attempt: int) -> None:
    made = plan(SLOW, seed=seed, key=key, attempt=attempt)
    assert made == plan(SLOW, seed=seed, key=key, attempt=attempt)
    assert timedelta(0) < made.latency <= timedelta(seconds=10)
    assert made.draws == {"latency_s": made.latency.total_seconds()}


def test_seed_key_attempt_and_rule_name_each_change_the_draw() -> None:
    draws = {
        plan(SLOW).latency,
        plan(SLOW, seed=2).latency,
        plan(SLOW, key="28673").latency,
        plan(SLOW, attempt=2).latency,
        plan({"status": 404}, SLOW).latency,
    }
    assert len(draws) == 5


def test_the_percentiles_are_those_of_the_rule() -> None:
    cuts = quantiles((plan(SLOW, key=str(n)).latency.total_seconds() for n in range(3_000)), n=100)
    assert cuts[49] == pytest.approx(0.040, rel=0.15)
    assert cuts[98] == pytest.approx(2.0, rel=0.35)


def test_the_cap_cuts_the_slow_end_off() -> None:
    capped = {"latency": {"p50": "40ms", "p99": "2s", "cap": "100ms"}}
    waits = [plan(capped, key=str(n)).latency for n in range(300)]
    assert max(waits) == timedelta(milliseconds=100)
    assert min(waits) < timedelta(milliseconds=40)


def test_parse_and_latency_of_a_rule_are_drawn_apart() -> None:
    made = plan({**SLOW, "parse": SLOW["latency"]})
    assert made.parse is not None
    assert made.parse != made.latency
    assert made.draws == {"latency_s": made.latency.total_seconds(), "parse_s": made.parse.total_seconds()}
    assert made == plan({**SLOW, "parse": SLOW["latency"]})


def test_a_parse_of_no_time_is_a_parse() -> None:
    assert plan({"parse": "0s"}).parse == timedelta(0)
    assert plan({"latency": "1s"}).parse is None


def test_the_last_capacity_and_the_last_gateway_decide() -> None:
    made = plan({"capacity": 1, "gateway_timeout": "1s"}, {"capacity": 2, "gateway_timeout": "2s"}, {"parse": "1s"})
    assert (made.capacity, made.gateway_timeout) == ("r1", timedelta(seconds=2))
    assert made.draws == {"parse_s": 1.0}
