import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from located_config.quantity import QuantityError
from located_config.share import SHARE_PATTERN, PositiveShare, Share, format_share, parse_share
from tests.unit.located_config.texts import agree, near

SHARES: TypeAdapter[float] = TypeAdapter(Share)


@pytest.mark.parametrize(
    ("written", "share"),
    [
        ("50%", 0.5),
        ("0%", 0.0),
        ("0.5%", 0.005),
        ("100 %", 1.0),
        (" 2 % ", 0.02),
        (0.01, 0.01),
        (0, 0.0),
        (1, 1.0),
        ("0.05", 0.05),
        ("1", 1.0),
    ],
)
def test_percent_or_a_fraction(written: object, share: float) -> None:
    assert parse_share(written) == share


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("some", "not a share (got 'some'); write 5% or 0.05, up to 100%"),
        ("-1%", "not a share (got '-1%'); write 5% or 0.05, up to 100%"),
        (-0.1, "not a share (got -0.1); write 5% or 0.05, up to 100%"),
        ("1e-1", "not a share (got '1e-1'); write 5% or 0.05, up to 100%"),
        ("%", "not a share (got '%'); write 5% or 0.05, up to 100%"),
        (True, "not a share (got True); write 5% or 0.05, up to 100%"),
        (None, "not a share (got None); write 5% or 0.05, up to 100%"),
        (float("nan"), "not a share (got nan); write 5% or 0.05, up to 100%"),
        ("101%", "more than the whole (got '101%'); write 5% or 0.05, up to 100%"),
        ("50", "more than the whole (got '50'); write 5% or 0.05, up to 100%"),
        (50, "more than the whole (got 50); write 5% or 0.05, up to 100%"),
        (1.01, "more than the whole (got 1.01); write 5% or 0.05, up to 100%"),
    ],
)
def test_what_is_no_share_says_how_to_write_one(value: object, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_share(value)
    assert str(caught.value) == message


@given(st.floats(0, 1))
@example(1 / 3)
@example(5e-324)
def test_what_is_written_reads_back_exactly(share: float) -> None:
    assert parse_share(format_share(share)) == share
    assert SHARES.validate_json(SHARES.dump_json(share)) == share


@pytest.mark.parametrize(("share", "text"), [(0.05, "5%"), (1.0, "100%"), (0.0, "0%"), (0.005, "0.5%"), (0.29, "29%")])
def test_it_is_written_in_percent(share: float, text: str) -> None:
    assert format_share(share) == text


@given(near(["%", " %", "%%", "percent"]))
def test_the_schema_takes_what_the_parser_takes(text: str) -> None:
    agree(SHARES, SHARE_PATTERN, text)


@pytest.mark.parametrize("written", ["0%", 0, 0.0, "0.0"])
def test_above_zero(written: object) -> None:
    with pytest.raises(ValidationError, match="must be above 0"):
        TypeAdapter(PositiveShare).validate_python(written)
