import re
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from pipeline.quantity import Duration, Size, format_duration, parse_duration, parse_size

DURATIONS = TypeAdapter(Duration)
SIZES = TypeAdapter(Size)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("40ms", timedelta(milliseconds=40)),
        ("0.5ms", timedelta(microseconds=500)),
        ("10s", timedelta(seconds=10)),
        (" 1.5 s ", timedelta(milliseconds=1500)),
        ("2m", timedelta(minutes=2)),
        ("1h", timedelta(hours=1)),
        ("30d", timedelta(days=30)),
        ("0s", timedelta(0)),
        (timedelta(days=1), timedelta(days=1)),
    ],
)
def test_durations_as_people_write_them(text: object, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("10", "no unit in '10'; write for example 10s"),
        (10, "no unit in 10; write for example 10s"),
        (True, "True is not a duration"),
        (None, "None is not a duration"),
        ("", "'' is not a duration"),
        ("-1s", "'-1s' is not a duration"),
        ("1e3s", "'1e3s' is not a duration"),
        ("10 parsecs", "unknown unit 'parsecs'"),
        ("5S", "unknown unit 'S'"),
        ("9" * 30 + "h", "longer than any duration can be"),
        ("9" * 400 + "h", "longer than any duration can be"),
    ],
)
def test_an_error_says_how_to_write_it(value: object, said: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(said)):
        DURATIONS.validate_python(value)


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=36_525)))
@example(timedelta(seconds=1_234_567))
@example(timedelta(days=36_525, microseconds=-1))
@example(timedelta(microseconds=1))
def test_what_is_written_reads_back_the_same(duration: timedelta) -> None:
    """A worker gets its configuration as text: a duration that loses a digit there is another duration."""
    assert parse_duration(format_duration(duration)) == duration
    assert DURATIONS.validate_json(DURATIONS.dump_json(duration)) == duration


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0s"),
        (timedelta(seconds=10), "10s"),
        (timedelta(hours=100), "360000s"),
        (timedelta(milliseconds=1500), "1.5s"),
        (timedelta(milliseconds=40), "40ms"),
        (timedelta(microseconds=500), "0.5ms"),
    ],
)
def test_it_is_written_without_needless_digits(duration: timedelta, text: str) -> None:
    assert format_duration(duration) == text


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("20MiB", 20_971_520),
        (" 300 KiB ", 307_200),
        ("1.5GiB", 1_610_612_736),
        ("5MB", 5_000_000),
        ("1kB", 1000),
        ("7B", 7),
        (20_971_520, 20_971_520),
        (0, 0),
    ],
)
def test_sizes_as_people_write_them(text: object, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes
    assert SIZES.validate_json(SIZES.dump_json(size_bytes)) == size_bytes


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("20", "'20' is not a size, write 20MiB"),
        ("20mib", "unknown unit 'mib', write 20MiB"),
        ("20 megs", "unknown unit 'megs', write 20MiB"),
        ("4g", "unknown unit 'g', write 4GiB"),
        ("4K", "unknown unit 'K', write 4KiB"),
        ("4gb", "unknown unit 'gb', write 4GB"),
        ("4 bits", "unknown unit 'bits', write 4MiB"),
        ("-5MiB", "'-5MiB' is not a size"),
        ("", "'' is not a size"),
        (True, "True is not a size"),
        (None, "None is not a size"),
        (1.5, "1.5 is not a size"),
    ],
)
def test_an_error_says_how_to_write_a_size(value: object, said: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(said)):
        SIZES.validate_python(value)


@given(
    number=st.integers(0, 2**20), unit=st.sampled_from([("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("GB", 10**9)])
)
def test_no_byte_of_a_size_is_lost(number: int, unit: tuple[str, int]) -> None:
    assert parse_size(f"{number}{unit[0]}") == number * unit[1]
