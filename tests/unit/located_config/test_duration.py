from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from located_config.duration import (
    DURATION_PATTERN,
    Duration,
    PositiveDuration,
    Shift,
    format_duration,
    format_shift,
    parse_duration,
    parse_shift,
)
from located_config.quantity import QuantityError
from tests.unit.located_config.texts import agree, near

DURATIONS: TypeAdapter[timedelta] = TypeAdapter(Duration)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500us", timedelta(microseconds=500)),
        ("40ms", timedelta(milliseconds=40)),
        ("0.5ms", timedelta(microseconds=500)),
        ("10s", timedelta(seconds=10)),
        (" 1.5 s ", timedelta(milliseconds=1500)),
        ("2m", timedelta(minutes=2)),
        ("2min", timedelta(minutes=2)),
        ("1.5h", timedelta(minutes=90)),
        ("30d", timedelta(days=30)),
        ("0s", timedelta(0)),
        ("999999999d", timedelta(days=999_999_999)),
        (timedelta(days=1), timedelta(days=1)),
    ],
)
def test_durations_as_people_write_them(text: object, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("10sec", "unknown unit 'sec' (got '10sec'); write 10s (us, ms, s, m, h, d)"),
        ("10 minutes", "unknown unit 'minutes' (got '10 minutes'); write 10min (us, ms, s, m, h, d)"),
        ("5S", "unknown unit 'S' (got '5S'); write 5s (us, ms, s, m, h, d)"),
        ("5µs", "unknown unit 'µs' (got '5µs'); write 5us (us, ms, s, m, h, d)"),
        ("10 parsecs", "unknown unit 'parsecs' (got '10 parsecs'); write 10s (us, ms, s, m, h, d)"),
        ("10", "no unit (got '10'); write 10s (us, ms, s, m, h, d)"),
        (90, "not a duration (got 90); write 90ms or 90s (us, ms, s, m, h, d)"),
        (1.5, "not a duration (got 1.5); write 1.5ms or 1.5s (us, ms, s, m, h, d)"),
        (-3, "not a duration (got -3); write 10s (us, ms, s, m, h, d)"),
        (float("inf"), "not a duration (got inf); write 10s (us, ms, s, m, h, d)"),
        (True, "not a duration (got True); write 10s (us, ms, s, m, h, d)"),
        (None, "not a duration (got None); write 10s (us, ms, s, m, h, d)"),
        ("", "not a duration (got ''); write 10s (us, ms, s, m, h, d)"),
        ("ms", "not a duration (got 'ms'); write 10s (us, ms, s, m, h, d)"),
        ("-1s", "not a duration (got '-1s'); write 10s (us, ms, s, m, h, d)"),
        ("1e3s", "not a duration (got '1e3s'); write 10s (us, ms, s, m, h, d)"),
        ("soon", "not a duration (got 'soon'); write 10s (us, ms, s, m, h, d)"),
        ("1000000000d", "too long a duration (got '1000000000d'); the longest is 999999999d"),
    ],
)
def test_what_is_no_duration_says_how_to_write_one(value: object, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_duration(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", ["9" * 400 + "h", timedelta(-1), [], {}])
def test_what_cannot_be_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="duration"):
        DURATIONS.validate_python(value)


@given(st.timedeltas(min_value=timedelta(0)))
@example(timedelta.max)
@example(timedelta(microseconds=1))
def test_what_is_written_reads_back_exactly(value: timedelta) -> None:
    """A worker gets its configuration as text: a duration that loses a digit there is another duration."""
    assert parse_duration(format_duration(value)) == value
    assert DURATIONS.validate_json(DURATIONS.dump_json(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(0), "0s"),
        (timedelta(seconds=90), "90s"),
        (timedelta(seconds=120), "2m"),
        (timedelta(hours=100), "100h"),
        (timedelta(hours=48), "2d"),
        (timedelta(milliseconds=1500), "1500ms"),
        (timedelta(microseconds=50), "50us"),
    ],
)
def test_it_is_written_in_its_largest_whole_unit(value: timedelta, text: str) -> None:
    assert format_duration(value) == text


def test_a_negative_duration_is_not_written() -> None:
    with pytest.raises(ValueError, match="negative"):
        format_duration(timedelta(seconds=-1))


@given(near(["us", "ms", "s", "m", "min", "h", "d", "sec", "M"]))
def test_the_schema_takes_what_the_parser_takes(text: str) -> None:
    agree(DURATIONS, DURATION_PATTERN, text, but=("too long",))


def test_above_zero() -> None:
    adapter: TypeAdapter[timedelta] = TypeAdapter(PositiveDuration)
    assert adapter.validate_python("1us") == timedelta(microseconds=1)
    with pytest.raises(ValidationError, match="must be above 0"):
        adapter.validate_python("0s")


@given(st.timedeltas(min_value=timedelta(days=-3000), max_value=timedelta(days=3000)))
def test_a_shift_reads_back_what_it_is_written_as(shift: timedelta) -> None:
    assert parse_shift(format_shift(shift)) == parse_shift(shift) == shift


@pytest.mark.parametrize(("text", "seconds"), [("-2m", -120), (" -1.5 s", -1.5), ("2m", 120), ("-0s", 0)])
def test_shifts_as_people_write_them(text: str, seconds: float) -> None:
    assert TypeAdapter(Shift).validate_python(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["--2m", "-2", "2m earlier", 5])
def test_what_is_no_shift(text: object) -> None:
    with pytest.raises(QuantityError):
        parse_shift(text)
