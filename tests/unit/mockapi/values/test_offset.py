import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from mockapi.server.delivery import Offset
from mockapi.values.offset import parse, text


@pytest.mark.parametrize(
    ("written", "offset"),
    [
        (0, Offset(count=0)),
        ("10KiB", Offset(count=10_240)),
        ("50%", Offset(share=0.5)),
        ("0%", Offset(share=0.0)),
        (0.25, Offset(share=0.25)),
    ],
)
def test_a_place_is_a_number_of_bytes_or_a_share(written: object, offset: Offset) -> None:
    assert parse(written) == offset
    assert parse(text(offset)) == offset


@pytest.mark.parametrize("written", [-1, "-1KiB", "150%", 1.5, "half", None, True])
def test_all_else_is_refused(written: object) -> None:
    with pytest.raises(PydanticCustomError, match="not a place in an answer"):
        parse(written)


@given(st.integers(0, 1 << 40), st.one_of(st.integers(0, 1 << 40).map(str), st.floats(0, 1)))
def test_a_place_is_never_beyond_the_end(total: int, written: str | float) -> None:
    offset = Offset(share=written) if isinstance(written, float) else Offset(count=int(written))
    assert 0 <= offset.within(total) <= total
