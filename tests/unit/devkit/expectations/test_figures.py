"""Bounds, and the figure that each expectation with one held against it."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from devkit.expectations import Expectation
from devkit.expectations.bounds import Bound, Count, DurationBound, NumberBound, ShareBound
from devkit.expectations.error_events import ErrorEventPattern
from devkit.expectations.log import LogPattern
from devkit.expectations.other_settings import OtherSettings
from devkit.observe.arm_observation import ComparedArm
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.kafka.error_events import ErrorEvents
from tests.unit.devkit.expectations.test_expectations import OTHERWISE, SCRAPED, STORM
from tests.unit.devkit.observed import an_audit, an_observation, some_latencies

SLOW, FAST = (an_observation(latencies=some_latencies(seconds)) for seconds in (4.0, 1.0))
SEEN: dict[str, Any] = {
    "figures": STORM,
    "restarts": 2,
    "latencies": some_latencies(1.0, 4.0),
    "log": {"waiting": 3},
    "other_settings": OTHERWISE,
    "error_events": (ErrorEvents("malformed_json", 2, 5_000),),
    "audit": an_audit(lost=1),
    "arms": {"incident": ComparedArm(SLOW), "fixed": ComparedArm(FAST)},
    "batches": ((5.0, 1.5), (7.0, 2.5)),
    **SCRAPED,
}
RATIO = {"latency": {"percentile": 50, "arms": ["incident", "fixed"], "at_most": 5}}


def figure(value: float, **bounds: Any) -> BoundedFigure:
    return BoundedFigure.model_validate({"value": value, **bounds})


@pytest.mark.parametrize(
    ("stated", "figures"),
    [
        ({"restarts": {"at_least": 2}}, [figure(2, at_least=2)]),
        ({"amplification": {"at_most": 4.5}}, [figure(3.4, at_most=4.5)]),
        ({"abandoned": {"at_least": "50%"}}, [figure(0.63, at_least=0.5, unit="share")]),
        ({"flat_commit": {"at_least": "15s"}}, [figure(18.523, at_least=15, unit="s")]),
        ({"success_rate": {"at_most": "30%"}}, [figure(0.3, at_most=0.3, unit="share")]),
        ({"latency": {"percentile": 99, "at_most": "10s"}}, [figure(4, at_most=10, unit="s")]),
        ({"rate": {"at_least": "1/m"}}, [figure(0.5, at_least=1 / 60, unit="/s")]),
        ({"log": {"event": "waiting", "at_most": 9}}, [figure(3, at_most=9)]),
        ({"other_settings": {"at_least": 1}}, [figure(4, at_least=1)]),
        ({"connections": {"at_least": 0}}, [figure(STORM.connections, at_least=0)]),
        ({"batch_time": {"at_most": "3s"}}, [figure(2.5, at_most=3, unit="s")]),
        ({"metric_exists": {"name": "lag_seconds", "above": 2}}, [figure(2.5, at_least=2)]),
        ({"error_events": {"at_least": 2}}, [figure(2, at_least=2)]),
        ({"error_events": {"max_size": "4KiB"}}, [figure(5000, at_most=4096, unit="bytes", name="largest")]),
        (
            {"audit": {"lost": 1, "duplicated": {"at_most": 2}}},
            [figure(1, at_least=1, at_most=1, name="lost"), figure(0, at_most=2, name="duplicated")],
        ),
        ({"compare": RATIO}, [figure(4, at_most=5)]),
        # What has no bound, and what has nothing to hold against it.
        ({"metric_exists": {"name": "lag_seconds"}}, []),
        ({"drained": True}, []),
        ({"audit": "clean"}, []),
        ({"checkpoint_size": {"at_most": "1MiB"}}, []),
        ({"compare": {"rate": {"arms": ["incident", "other"], "at_most": 5}}}, []),
    ],
)
def test_the_figure_and_its_bounds(stated: dict[str, Any], figures: list[BoundedFigure]) -> None:
    found = Expectation.model_validate(stated).judge(an_observation(**SEEN)).figures
    assert [one.model_dump() for one in found] == [pytest.approx(one.model_dump()) for one in figures]


def test_a_ratio_to_nothing_is_no_figure() -> None:
    arms = {"incident": ComparedArm(an_observation(restarts=1)), "fixed": ComparedArm(an_observation())}
    compared = {"compare": {"restarts": {"arms": ["incident", "fixed"], "at_least": 2}}}
    finding = Expectation.model_validate(compared).judge(an_observation(arms=arms))
    assert (finding.holds, finding.figures) == (True, ())


@pytest.mark.parametrize(
    ("bound", "written", "shown"),
    [
        (Bound, 2, "2"),
        (Bound, {"at_most": 0}, "at most 0"),
        (NumberBound, 2, "2"),
        (NumberBound, {"at_least": 2.5}, "at least 2.5"),
        (NumberBound, {"at_least": 0.1, "at_most": 3}, "at least 0.1 and at most 3"),
        (ShareBound, "50%", "50%"),
        (ShareBound, {"at_least": "0.5%", "at_most": "100%"}, "at least 0.5% and at most 100%"),
        (DurationBound, "8s", "8s"),
        (DurationBound, {"at_least": "1500ms"}, "at least 1500ms"),
    ],
)
def test_a_bound_is_shown_as_it_is_written(bound: Any, written: object, shown: str) -> None:
    assert str(TypeAdapter(bound).validate_python(written)) == shown


def test_a_share_and_a_duration_bound_values_in_their_units() -> None:
    share = TypeAdapter(ShareBound).validate_python({"at_least": "50%"})
    assert [share.admits(value) for value in (0.49, 0.5, 1.0)] == [False, True, True]
    duration = TypeAdapter(DurationBound).validate_python({"at_most": "2s"})
    assert [duration.admits(timedelta(seconds=value)) for value in (1, 2, 2.1)] == [True, True, False]


bounds = st.none() | st.integers(0, 9)


@given(bounds, bounds, st.integers(0, 12), st.integers(0, 9))
def test_what_is_only_known_between_two_values_is_admitted_when_all_between_are(
    at_least: int | None, at_most: int | None, low: int, width: int
) -> None:
    if (at_least is None and at_most is None) or (at_least is not None and at_most is not None and at_least > at_most):
        return
    bound = Count(at_least=at_least, at_most=at_most)
    between = range(low, low + width + 1)
    assert bound.admits_between(low, low + width) == all(bound.admits(value) for value in between)
    # Without an upper bound on the value, only a lower bound on it can be met.
    assert bound.admits_between(low, None) == (at_most is None and bound.admits(low))


@pytest.mark.parametrize("bound", [Count, ErrorEventPattern, OtherSettings, LogPattern])
def test_no_value_is_within_bounds_that_cross(bound: type[Count]) -> None:
    written = {"at_least": 3, "at_most": 1} | ({"event": "waiting"} if bound is LogPattern else {})
    with pytest.raises(ValidationError, match="no number is at least 3 and at most 1; swap them"):
        bound.model_validate(written)
