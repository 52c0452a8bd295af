import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from located_config.quantity import QuantityError
from located_config.size import SIZE_PATTERN, Size, format_size, parse_size
from tests.unit.located_config.texts import agree, near

SIZES: TypeAdapter[int] = TypeAdapter(Size)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("20MiB", 20_971_520),
        (" 300 KiB ", 307_200),
        ("1.5GiB", 1_610_612_736),
        ("5MB", 5_000_000),
        ("1kB", 1000),
        ("7B", 7),
        ("4096", 4096),
        (20_971_520, 20_971_520),
        (0, 0),
    ],
)
def test_sizes_as_people_write_them(text: object, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes
    assert SIZES.validate_json(SIZES.dump_json(size_bytes)) == size_bytes


UNITS = "(B, KiB, MiB, GiB, kB, MB, GB)"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("20mib", f"unknown unit 'mib' (got '20mib'); write 20MiB {UNITS}"),
        ("20 megs", f"unknown unit 'megs' (got '20 megs'); write 20MiB {UNITS}"),
        ("4g", f"unknown unit 'g' (got '4g'); write 4GiB {UNITS}"),
        ("4K", f"unknown unit 'K' (got '4K'); write 4KiB {UNITS}"),
        ("4gb", f"unknown unit 'gb' (got '4gb'); write 4GB {UNITS}"),
        ("4 TiB", f"unknown unit 'TiB' (got '4 TiB'); write 4MiB {UNITS}"),
        *(
            (value, f"not a size (got {value!r}); write 20MiB {UNITS} or a whole number of bytes")
            for value in ("1.5", "-5MiB", -5, "", "8,5MiB", "plenty", True, None, 1.5)
        ),
    ],
)
def test_what_is_no_size_says_how_to_write_one(value: object, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_size(value)
    assert str(caught.value) == message


@given(st.integers(0, 2**60))
def test_what_is_written_reads_back_exactly(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == size_bytes


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(20_971_520, "20MiB"), (307_200, "300KiB"), (1 << 40, "1024GiB"), (1000, "1000B"), (0, "0B")],
)
def test_it_is_written_in_its_largest_whole_unit(size_bytes: int, text: str) -> None:
    assert format_size(size_bytes) == text


def test_a_negative_size_is_not_written() -> None:
    with pytest.raises(ValueError, match="negative"):
        format_size(-1)


@given(
    number=st.integers(0, 2**20), unit=st.sampled_from([("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("GB", 10**9)])
)
def test_no_byte_of_a_size_is_lost(number: int, unit: tuple[str, int]) -> None:
    assert parse_size(f"{number}{unit[0]}") == number * unit[1]


@given(near(["B", "KiB", "MiB", "GiB", "kB", "MB", "GB", "K", "mib"]))
def test_the_schema_takes_what_the_parser_takes(text: str) -> None:
    agree(SIZES, SIZE_PATTERN, text)
