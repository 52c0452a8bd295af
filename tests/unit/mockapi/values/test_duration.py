from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from mockapi.values.duration import Duration, text

DURATIONS: TypeAdapter[timedelta] = TypeAdapter(Duration)


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=365)))
def test_what_is_written_is_read_back(duration: timedelta) -> None:
    assert DURATIONS.validate_python(text(duration)) == duration
    assert DURATIONS.validate_json(DURATIONS.dump_json(duration)) == duration


@pytest.mark.parametrize(
    ("written", "seconds"), [("40ms", 0.04), ("10s", 10), ("2m", 120), ("1.5s", 1.5), ("250us", 0.00025), ("1h", 3600)]
)
def test_units(written: str, seconds: float) -> None:
    assert DURATIONS.validate_python(written).total_seconds() == seconds


@pytest.mark.parametrize(
    "written", ["40", 40, 1.5, "ms", "-1s", "1d", "", None, "1 week", "9" * 40 + "h", timedelta(-1)]
)
def test_anything_else_is_refused(written: object) -> None:
    with pytest.raises(ValidationError, match="duration"):
        DURATIONS.validate_python(written)
