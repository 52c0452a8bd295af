from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from devkit.expectations.bounds import Bound, Count, DurationBound, NumberBound, ShareBound
from devkit.expectations.error_events import ErrorEventPattern
from devkit.expectations.log import LogPattern
from devkit.expectations.other_settings import OtherSettings


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
