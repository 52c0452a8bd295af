"""The ratio of two arms: of which figures, and when it is not known."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.expectations import Expectation, Finding
from devkit.headroom.shortage import Window
from devkit.headroom.stretched_model import stretched
from devkit.observe.arm_observation import ArmObservation, ComparedArm
from devkit.observe.latency import EventLatency, Latencies
from tests.unit.devkit.expectations.test_needs import HIDDEN, HIDING
from tests.unit.devkit.observed import an_observation, some_figures


def delivering(events: int, seconds: float) -> ArmObservation:
    each = tuple(EventLatency(("enwiki", 1), 0, seconds, is_emitted=True) for _ in range(events))
    figures = some_figures(amplification=events / 10, peak_queue=events)
    return an_observation(latencies=Latencies(each, frozenset()), figures=figures, restarts=0)


SLOW, FAST = delivering(40, 20.0), delivering(40, 2.0)


def judge(argument: dict[str, Any], **short: str) -> Finding:
    arms = {"incident": SLOW, "fixed": FAST, "idle": an_observation(latencies=Latencies(), restarts=2)}
    compared = {name: ComparedArm(one, short.get(name, "")) for name, one in arms.items()}
    return Expectation.model_validate({"compare": argument}).judge(an_observation(arms=compared))


BOTH = ["fixed", "incident"]
RATES = "rate of fixed / rate of incident at least 8"
EIGHTFOLD = Expectation.model_validate({"compare": {"rate": {"arms": BOTH, "at_least": 8}}})


@pytest.mark.parametrize(
    ("argument", "expected", "measured", "holds"),
    [
        ({"rate": {"of": "healthy", "arms": BOTH, "at_least": 8}}, RATES, "10.00 (20 / 2)", True),
        ({"rate": {"arms": BOTH, "at_least": 11}}, None, "10.00 (20 / 2)", False),
        ({"latency": {"percentile": 50, "arms": ["incident", "fixed"], "at_least": 10}}, None, "10.00 (20 / 2)", True),
        ({"amplification": {"arms": BOTH, "at_most": 1}}, None, "1.00 (4 / 4)", True),
        ({"restarts": {"arms": ["idle", "fixed"], "at_least": 2}}, None, "inf (2 / 0)", True),
        ({"restarts": {"arms": ["fixed", "idle"], "at_least": 2}}, None, "0.00 (0 / 2)", False),
        ({"restarts": {"arms": BOTH, "at_least": 2}}, None, "n/a: it is 0 in both arms", None),
        ({"rate": {"arms": ["fixed", "idle"], "at_least": 2}}, None, "n/a: arm idle has no rate", None),
        ({"rate": {"arms": ["fixed", "other"], "at_least": 2}}, None, "n/a: arm other was not played", None),
        ({"memory": {"kind": "JVM", "arms": BOTH, "at_most": 2}}, None, "n/a: arm fixed has no memory", None),
    ],
)
def test_ratio(argument: dict[str, Any], expected: str | None, measured: str, holds: bool | None) -> None:
    finding = judge(argument)
    assert (finding.measured, finding.holds) == (measured, holds)
    assert expected in (None, finding.expected)


def test_a_figure_of_an_arm_that_was_short_of_time_says_nothing_where_it_depends_on_it() -> None:
    rate = judge({"rate": {"arms": BOTH, "at_least": 8}}, incident="the machine was short of time")
    assert (rate.measured, rate.holds, rate.short) == ("n/a in arm incident", None, "the machine was short of time")
    claims = judge({"claim_checks": {"arms": BOTH, "at_least": 8}}, incident="the machine was short of time")
    assert claims.measured == "n/a: it is 0 in both arms"


def test_what_is_not_observable_of_an_arm_is_not_compared() -> None:
    blind = an_observation(not_observable=frozenset({"sources"}))
    arms = {"incident": ComparedArm(blind), "fixed": ComparedArm(FAST)}
    assert EIGHTFOLD.judge(an_observation(arms=arms)).holds is None
    assert EIGHTFOLD.depends_on_time(an_observation(arms=arms)) == "arm"


@pytest.mark.parametrize(
    ("figure", "window"),
    [
        ({"latency": {"percentile": 95, "arms": BOTH, "at_least": 2}}, "arm"),
        ({"rate": {"arms": BOTH, "at_least": 2}}, "arm"),
        ({"claim_checks": {"arms": BOTH, "at_least": 2}}, None),
    ],
)
def test_it_depends_on_time_where_its_figure_does(figure: dict[str, Any], window: Window | None) -> None:
    arms = {"incident": ComparedArm(SLOW), "fixed": ComparedArm(FAST)}
    assert Expectation.model_validate({"compare": figure}).depends_on_time(an_observation(arms=arms)) == window


def test_a_ratio_is_not_stretched() -> None:
    assert str(stretched(EIGHTFOLD, 3).argument) == str(EIGHTFOLD.argument)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"rat": {"arms": BOTH, "at_least": 8}}, "'rat' has no figure to compare; did you mean 'rate'"),
        ({"audit": {"arms": BOTH, "at_least": 8}}, "'audit' has no figure to compare"),
        ({"rate": {"arms": BOTH}}, "rate: write at_least, at_most"),
        ({"rate": {"arms": ["fixed", "fixed"], "at_least": 8}}, "an arm is not compared with itself: fixed"),
        ({"rate": {"at_least": 8}}, "rate.arms: Field required"),
        ({"rate": {"arms": BOTH, "off": "healthy", "at_least": 8}}, "rate.off: Extra inputs are not permitted"),
        ({"rate": {"arms": BOTH, "of": "helthy", "at_least": 8}}, "rate.of: Input should be 'all' or 'healthy'"),
        ({}, "write one figure and the arms"),
    ],
)
def test_refused(argument: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Expectation.model_validate({"compare": argument})


def test_not_where_a_fault_took_records_away() -> None:
    arms = {"incident": ComparedArm(replace(SLOW, evidence=(HIDING,))), "fixed": ComparedArm(FAST)}
    finding = EIGHTFOLD.judge(an_observation(arms=arms))
    assert (finding.holds, finding.measured) == (None, f"n/a: of arm incident: {HIDDEN}")
