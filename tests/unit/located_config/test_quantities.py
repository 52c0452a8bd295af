"""Durations, rates, shares and sizes: how they are read, refused, written and described by a schema."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

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
from located_config.quantity import QuantityError, text_schema
from located_config.rate import RATE_PATTERN, Rate, format_rate, parse_rate
from located_config.schema import AsWritten
from located_config.share import SHARE_PATTERN, PositiveShare, Share, format_share, parse_share
from located_config.size import SIZE_PATTERN, Size, format_size, parse_size


class Quantity(NamedTuple):
    parse: Callable[[Any], Any]
    format: Callable[[Any], str]
    adapter: TypeAdapter[Any]
    pattern: str
    remedy: str
    """What a refusal ends with, for a value that shows no number."""
    units: Sequence[str]
    """Units, and what is nearly one."""
    but: Sequence[str] = ()
    """What the parser knows and the schema does not: how its refusals begin."""


BYTES = "(B, KiB, MiB, GiB, kB, MB, GB)"
QUANTITIES = {
    "duration": Quantity(
        parse_duration,
        format_duration,
        TypeAdapter(Duration),
        DURATION_PATTERN,
        "write 10s (us, ms, s, m, h, d)",
        ["us", "ms", "s", "m", "min", "h", "d", "sec", "M"],
        ("too long",),
    ),
    "rate": Quantity(
        parse_rate,
        format_rate,
        TypeAdapter(Rate),
        RATE_PATTERN,
        "write 20/s (s, m, h, d)",
        ["/s", "/m", "/min", "/h", "/d", "/ms", "/ s", "s"],
        ("not a rate above 0",),
    ),
    "share": Quantity(
        parse_share,
        format_share,
        TypeAdapter(Share),
        SHARE_PATTERN,
        "write 5% or 0.05, up to 100%",
        ["%", " %", "%%", "percent"],
    ),
    "size": Quantity(
        parse_size,
        format_size,
        TypeAdapter(Size),
        SIZE_PATTERN,
        f"write 20MiB {BYTES} or a whole number of bytes",
        ["B", "KiB", "MiB", "GiB", "kB", "MB", "GB", "K", "mib"],
    ),
}


@pytest.mark.parametrize(
    ("quantity", "written", "value"),
    [
        ("duration", "500us", timedelta(microseconds=500)),
        ("duration", "40ms", timedelta(milliseconds=40)),
        ("duration", "0.5ms", timedelta(microseconds=500)),
        ("duration", "10s", timedelta(seconds=10)),
        ("duration", " 1.5 s ", timedelta(milliseconds=1500)),
        ("duration", "2m", timedelta(minutes=2)),
        ("duration", "2min", timedelta(minutes=2)),
        ("duration", "1.5h", timedelta(minutes=90)),
        ("duration", "30d", timedelta(days=30)),
        ("duration", "0s", timedelta(0)),
        ("duration", "999999999d", timedelta(days=999_999_999)),
        ("duration", timedelta(days=1), timedelta(days=1)),
        ("rate", "20/s", 20.0),
        ("rate", "30/m", 0.5),
        ("rate", "30/min", 0.5),
        ("rate", "7200/h", 2.0),
        ("rate", "86400/d", 1.0),
        ("rate", " 0.5 / s ", 0.5),
        ("rate", "1e3/s", 1000.0),
        ("share", "50%", 0.5),
        ("share", "0%", 0.0),
        ("share", "0.5%", 0.005),
        ("share", "100 %", 1.0),
        ("share", " 2 % ", 0.02),
        ("share", 0.01, 0.01),
        ("share", 0, 0.0),
        ("share", 1, 1.0),
        ("share", "0.05", 0.05),
        ("share", "1", 1.0),
        ("size", "20MiB", 20_971_520),
        ("size", " 300 KiB ", 307_200),
        ("size", "1.5GiB", 1_610_612_736),
        ("size", "5MB", 5_000_000),
        ("size", "1kB", 1000),
        ("size", "7B", 7),
        ("size", "4096", 4096),
        ("size", 20_971_520, 20_971_520),
        ("size", 0, 0),
    ],
)
def test_a_quantity_is_read_as_people_write_it(quantity: str, written: object, value: object) -> None:
    assert QUANTITIES[quantity].parse(written) == value


NO_NUMBER: dict[str, list[object]] = {
    "duration": [-3, float("inf"), True, None, "", "ms", "-1s", "1e3s", "soon"],
    "rate": [20, "20", "-3/s", "fast", None],
    "share": ["some", "-1%", -0.1, "1e-1", "%", True, None, float("nan")],
    "size": ["1.5", "-5MiB", -5, "", "8,5MiB", "plenty", True, None, 1.5],
}


@pytest.mark.parametrize(
    ("quantity", "value", "message"),
    [
        ("duration", "10sec", "unknown unit 'sec' (got '10sec'); write 10s (us, ms, s, m, h, d)"),
        ("duration", "10 minutes", "unknown unit 'minutes' (got '10 minutes'); write 10min (us, ms, s, m, h, d)"),
        ("duration", "5S", "unknown unit 'S' (got '5S'); write 5s (us, ms, s, m, h, d)"),
        ("duration", "5µs", "unknown unit 'µs' (got '5µs'); write 5us (us, ms, s, m, h, d)"),
        ("duration", "10 parsecs", "unknown unit 'parsecs' (got '10 parsecs'); write 10s (us, ms, s, m, h, d)"),
        ("duration", "10", "no unit (got '10'); write 10s (us, ms, s, m, h, d)"),
        ("duration", 90, "not a duration (got 90); write 90ms or 90s (us, ms, s, m, h, d)"),
        ("duration", 1.5, "not a duration (got 1.5); write 1.5ms or 1.5s (us, ms, s, m, h, d)"),
        ("duration", "1000000000d", "too long a duration (got '1000000000d'); the longest is 999999999d"),
        ("rate", "20/sec", "unknown unit 'sec' (got '20/sec'); write 20/s (s, m, h, d)"),
        ("rate", "20/ms", "unknown unit 'ms' (got '20/ms'); write 20/s (s, m, h, d)"),
        ("rate", "20/hour", "unknown unit 'hour' (got '20/hour'); write 20/h (s, m, h, d)"),
        ("rate", "0/s", "not a rate above 0 (got '0/s'); write 20/s (s, m, h, d)"),
        ("rate", "1e999/s", "not a rate above 0 (got '1e999/s'); write 20/s (s, m, h, d)"),
        ("share", "101%", "more than the whole (got '101%'); write 5% or 0.05, up to 100%"),
        ("share", "50", "more than the whole (got '50'); write 5% or 0.05, up to 100%"),
        ("share", 50, "more than the whole (got 50); write 5% or 0.05, up to 100%"),
        ("share", 1.01, "more than the whole (got 1.01); write 5% or 0.05, up to 100%"),
        ("size", "20mib", f"unknown unit 'mib' (got '20mib'); write 20MiB {BYTES}"),
        ("size", "20 megs", f"unknown unit 'megs' (got '20 megs'); write 20MiB {BYTES}"),
        ("size", "4g", f"unknown unit 'g' (got '4g'); write 4GiB {BYTES}"),
        ("size", "4K", f"unknown unit 'K' (got '4K'); write 4KiB {BYTES}"),
        ("size", "4gb", f"unknown unit 'gb' (got '4gb'); write 4GB {BYTES}"),
        ("size", "4 TiB", f"unknown unit 'TiB' (got '4 TiB'); write 4MiB {BYTES}"),
        *(
            (name, value, f"not a {name} (got {value!r}); {QUANTITIES[name].remedy}")
            for name, values in NO_NUMBER.items()
            for value in values
        ),
    ],
)
def test_what_is_no_quantity_says_how_to_write_one(quantity: str, value: object, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        QUANTITIES[quantity].parse(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", ["9" * 400 + "h", timedelta(-1), [], {}])
def test_what_cannot_be_a_duration_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="duration"):
        QUANTITIES["duration"].adapter.validate_python(value)


VALUES = st.one_of(
    st.tuples(st.just("duration"), st.timedeltas(min_value=timedelta(0))),
    st.tuples(st.just("rate"), st.floats(min_value=0, exclude_min=True, allow_infinity=False)),
    st.tuples(st.just("share"), st.floats(0, 1)),
    st.tuples(st.just("size"), st.integers(0, 2**60)),
)


@given(VALUES)
@example(("duration", timedelta.max))
@example(("duration", timedelta(microseconds=1)))
@example(("rate", 1e-9))
@example(("share", 1 / 3))
@example(("share", 5e-324))
def test_what_is_written_reads_back_exactly(case: tuple[str, Any]) -> None:
    """A worker gets its configuration as text: a duration that loses a digit there is another duration."""
    quantity, value = case
    assert QUANTITIES[quantity].parse(QUANTITIES[quantity].format(value)) == value
    assert QUANTITIES[quantity].adapter.validate_json(QUANTITIES[quantity].adapter.dump_json(value)) == value


@pytest.mark.parametrize(
    ("quantity", "value", "text"),
    [
        ("duration", timedelta(0), "0s"),
        ("duration", timedelta(seconds=90), "90s"),
        ("duration", timedelta(seconds=120), "2m"),
        ("duration", timedelta(hours=100), "100h"),
        ("duration", timedelta(hours=48), "2d"),
        ("duration", timedelta(milliseconds=1500), "1500ms"),
        ("duration", timedelta(microseconds=50), "50us"),
        ("rate", 20.0, "20/s"),
        ("rate", 200 / 60, "200/m"),
        ("rate", 0.5, "30/m"),
        ("rate", 0.123456, "0.123456/s"),
        ("share", 0.05, "5%"),
        ("share", 1.0, "100%"),
        ("share", 0.0, "0%"),
        ("share", 0.005, "0.5%"),
        ("share", 0.29, "29%"),
        ("size", 20_971_520, "20MiB"),
        ("size", 307_200, "300KiB"),
        ("size", 1 << 40, "1024GiB"),
        ("size", 1000, "1000B"),
        ("size", 0, "0B"),
    ],
)
def test_it_is_written_in_its_largest_whole_unit(quantity: str, value: object, text: str) -> None:
    assert QUANTITIES[quantity].format(value) == text


@pytest.mark.parametrize(("quantity", "value"), [("duration", timedelta(seconds=-1)), ("size", -1)])
def test_a_negative_one_is_not_written(quantity: str, value: object) -> None:
    with pytest.raises(ValueError, match="negative"):
        QUANTITIES[quantity].format(value)


@given(st.integers(1, 10**9), st.sampled_from([1, 60, 3_600, 86_400]))
def test_a_whole_number_in_a_time_is_written_as_one(count: int, seconds: int) -> None:
    assert format_rate(count / seconds).split("/")[0].isdecimal()


@given(st.integers(0, 2**20), st.sampled_from([("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("GB", 10**9)]))
def test_no_byte_of_a_size_is_lost(number: int, unit: tuple[str, int]) -> None:
    assert parse_size(f"{number}{unit[0]}") == number * unit[1]


NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str),
    st.from_regex(r"[0-9]{0,4}\.?[0-9]{0,4}(e[+-]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(["100", "100.0", "100.1", "0100", "1.0", "1.1", "0", "00.5", "٣", "-1", "+1", "1_0", "1,5", "inf"]),
)
BLANKS = st.sampled_from(["", "", "", " ", "\t", "  ", "\n", "\N{NO-BREAK SPACE}"])


@pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)
@given(data=st.data())
def test_the_schema_takes_what_the_parser_takes(quantity: Quantity, data: st.DataObject) -> None:
    """Of a number and one of the units or none, with blanks about; or of anything."""
    unit = st.one_of(st.just(""), st.sampled_from(quantity.units), st.text(max_size=2))
    written = st.tuples(BLANKS, NUMBERS, BLANKS, unit, BLANKS).map("".join)
    text = data.draw(st.one_of(written, written, st.text(max_size=8)))
    schema = quantity.adapter.json_schema()
    assert [one["pattern"] for one in schema.get("anyOf", [schema]) if "pattern" in one] == [quantity.pattern]
    try:
        quantity.adapter.validate_python(text)
    except ValidationError as error:
        taken = bool(quantity.but) and error.errors()[0]["msg"].startswith(tuple(quantity.but))
    else:
        taken = True
    assert jsonschema.Draft202012Validator(schema).is_valid(text) is taken
    # ECMAScript's blanks are others than Python's in a few control characters; all else is alike.
    if not any(character in "\x1c\x1d\x1e\x1f\x85\ufeff" for character in text):
        assert jsonschema_rs.Draft202012Validator(text_schema(quantity.pattern)).is_valid(text) is taken


@pytest.mark.parametrize(
    ("positive", "written"),
    [(PositiveDuration, "0s"), *((PositiveShare, written) for written in ("0%", 0, 0.0, "0.0"))],
)
def test_nothing_is_not_above_zero(positive: Any, written: object) -> None:
    with pytest.raises(ValidationError, match="must be above 0"):
        TypeAdapter(positive).validate_python(written)


def test_the_least_duration_is_above_zero() -> None:
    assert TypeAdapter(PositiveDuration).validate_python("1us") == timedelta(microseconds=1)


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


class Waits(BaseModel):
    wait: PositiveDuration = timedelta(seconds=90)
    most: PositiveDuration | None = timedelta(hours=1)


def test_a_default_stands_in_a_schema_as_people_write_it() -> None:
    properties = Waits.model_json_schema(schema_generator=AsWritten)["properties"]
    assert properties["wait"] == {"type": "string", "pattern": DURATION_PATTERN, "default": "90s", "title": "Wait"}
    assert properties["most"]["default"] == "1h"
