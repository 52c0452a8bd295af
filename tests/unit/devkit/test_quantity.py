from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from devkit.quantity import (
    Duration,
    Rate,
    format_duration,
    format_rate,
    format_share,
    parse_duration,
    parse_rate,
    parse_share,
)


class _Model(BaseModel):
    wait: Duration
    rate: Rate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10s", timedelta(seconds=10)),
        ("40ms", timedelta(milliseconds=40)),
        ("2m", timedelta(minutes=2)),
        ("1.5h", timedelta(minutes=90)),
        (" 0s ", timedelta(0)),
        ("0.05ms", timedelta(microseconds=50)),
    ],
)
def test_durations_are_read_as_written(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("10sec", "unknown unit 'sec', write 10s (ms, s, m, h)"),
        ("10", "no unit in '10', write 10s (ms, s, m, h)"),
        (10, "10 is not a duration, write 10s (ms, s, m, h)"),
        (True, "True is not a duration, write 10s (ms, s, m, h)"),
        ("-1s", "'-1s' is not a duration, write 10s (ms, s, m, h)"),
        ("soon", "'soon' is not a duration, write 10s (ms, s, m, h)"),
        (None, "None is not a duration, write 10s (ms, s, m, h)"),
        ("99999999999999h", "'99999999999999h' is too long, the longest is 23999999976h"),
    ],
)
def test_a_duration_that_cannot_be_read_says_how_to_write_it(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=r"write|longest") as caught:
        parse_duration(value)
    assert str(caught.value) == message


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=4000)))
def test_a_formatted_duration_is_read_back_exactly(value: timedelta) -> None:
    assert parse_duration(format_duration(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(seconds=90), "90s"),
        (timedelta(seconds=120), "2m"),
        (timedelta(0), "0s"),
        (timedelta(milliseconds=1500), "1500ms"),
        (timedelta(microseconds=50), "0.05ms"),
    ],
)
def test_durations_are_written_in_their_largest_whole_unit(value: timedelta, text: str) -> None:
    assert format_duration(value) == text


def test_a_negative_duration_is_not_written() -> None:
    with pytest.raises(ValueError, match="negative"):
        format_duration(timedelta(seconds=-1))


@pytest.mark.parametrize(("text", "per_s"), [("20/s", 20.0), ("30/m", 0.5), ("7200/h", 2.0), ("0.5 / s", 0.5)])
def test_rates_are_read_per_second(text: str, per_s: float) -> None:
    assert parse_rate(text) == per_s


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("20/sec", "unknown unit 'sec', write 20/s (s, m, h)"),
        (20, "20 is not a rate, write 20/s (s, m, h)"),
        ("20", "'20' is not a rate, write 20/s (s, m, h)"),
        ("0/s", "'0/s' is not a rate above zero, write 20/s (s, m, h)"),
        ("1e999/s", "'1e999/s' is not a rate above zero, write 20/s (s, m, h)"),
        ("20/ms", "unknown unit 'ms', write 20/s (s, m, h)"),
    ],
)
def test_a_rate_that_cannot_be_read_says_how_to_write_it(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=r"write|longest") as caught:
        parse_rate(value)
    assert str(caught.value) == message


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_a_formatted_rate_is_read_back_exactly(per_s: float) -> None:
    assert parse_rate(format_rate(per_s)) == per_s


@pytest.mark.parametrize(("text", "share"), [("50%", 0.5), ("0%", 0.0), ("100 %", 1.0), ("0.5%", 0.005)])
def test_shares_are_read(text: str, share: float) -> None:
    assert parse_share(text) == share


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("50", "'50' is not a share, write 50%"),
        (0.5, "0.5 is not a share, write 50%"),
        ("-1%", "'-1%' is not a share, write 50%"),
        ("101%", "'101%' is more than the whole, at most 100%"),
    ],
)
def test_a_share_that_cannot_be_read_says_how_to_write_it(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=r"write|most") as caught:
        parse_share(value)
    assert str(caught.value) == message


@given(st.integers(0, 10_000))
def test_a_formatted_share_is_read_back(hundredths: int) -> None:
    share = parse_share(f"{hundredths / 100}%")
    assert parse_share(format_share(share)) == share


def test_a_model_reads_and_dumps_the_same_text() -> None:
    written = {"wait": "40ms", "rate": "20/s"}
    model = _Model.model_validate(written)
    assert (model.wait, model.rate) == (timedelta(milliseconds=40), 20.0)
    assert model.model_dump() == model.model_dump(mode="json") == written


def test_a_model_names_place_and_remedy() -> None:
    with pytest.raises(ValidationError) as caught:
        _Model.model_validate({"wait": "10sec", "rate": "20/s"})
    (error,) = caught.value.errors()
    assert error["loc"] == ("wait",)
    assert "write 10s" in error["msg"]
