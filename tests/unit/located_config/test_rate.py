import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from located_config.quantity import QuantityError
from located_config.rate import RATE_PATTERN, Rate, format_rate, parse_rate
from tests.unit.located_config.texts import agree, near

RATES: TypeAdapter[float] = TypeAdapter(Rate)


@pytest.mark.parametrize(
    ("text", "per_s"),
    [
        ("20/s", 20.0),
        ("30/m", 0.5),
        ("30/min", 0.5),
        ("7200/h", 2.0),
        ("86400/d", 1.0),
        (" 0.5 / s ", 0.5),
        ("1e3/s", 1000.0),
    ],
)
def test_rates_are_read_per_second(text: str, per_s: float) -> None:
    assert parse_rate(text) == per_s


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("20/sec", "unknown unit 'sec' (got '20/sec'); write 20/s (s, m, h, d)"),
        ("20/ms", "unknown unit 'ms' (got '20/ms'); write 20/s (s, m, h, d)"),
        ("20/hour", "unknown unit 'hour' (got '20/hour'); write 20/h (s, m, h, d)"),
        (20, "not a rate (got 20); write 20/s (s, m, h, d)"),
        ("20", "not a rate (got '20'); write 20/s (s, m, h, d)"),
        ("-3/s", "not a rate (got '-3/s'); write 20/s (s, m, h, d)"),
        ("fast", "not a rate (got 'fast'); write 20/s (s, m, h, d)"),
        (None, "not a rate (got None); write 20/s (s, m, h, d)"),
        ("0/s", "not a rate above 0 (got '0/s'); write 20/s (s, m, h, d)"),
        ("1e999/s", "not a rate above 0 (got '1e999/s'); write 20/s (s, m, h, d)"),
    ],
)
def test_what_is_no_rate_says_how_to_write_one(value: object, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_rate(value)
    assert str(caught.value) == message


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
@example(1e-9)
def test_what_is_written_reads_back_exactly(per_s: float) -> None:
    assert parse_rate(format_rate(per_s)) == per_s
    assert RATES.validate_json(RATES.dump_json(per_s)) == per_s


@given(st.integers(1, 10**9), st.sampled_from([1, 60, 3_600, 86_400]))
def test_a_whole_number_in_a_time_is_written_as_one(count: int, seconds: int) -> None:
    assert format_rate(count / seconds).split("/")[0].isdecimal()


@pytest.mark.parametrize(
    ("per_s", "text"), [(20.0, "20/s"), (200 / 60, "200/m"), (0.5, "30/m"), (0.123456, "0.123456/s")]
)
def test_how_a_rate_is_written(per_s: float, text: str) -> None:
    assert format_rate(per_s) == text


@given(near(["/s", "/m", "/min", "/h", "/d", "/ms", "/ s", "s"]))
def test_the_schema_takes_what_the_parser_takes(text: str) -> None:
    agree(RATES, RATE_PATTERN, text, but=("not a rate above 0",))
