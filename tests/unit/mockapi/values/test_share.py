import pytest
from pydantic import TypeAdapter, ValidationError

from mockapi.values.share import Share

SHARES: TypeAdapter[float] = TypeAdapter(Share)


@pytest.mark.parametrize(
    ("written", "share"), [("1%", 0.01), ("0.5%", 0.005), ("100%", 1.0), (" 2 % ", 0.02), (0.01, 0.01), (1.0, 1.0)]
)
def test_percent_or_a_fraction(written: object, share: float) -> None:
    assert SHARES.validate_python(written) == pytest.approx(share)


@pytest.mark.parametrize(
    "written", [1, 0, 0.0, -0.1, 1.01, "0%", "101%", "1", "0.01", "", "%", "-1%", None, True, float("nan"), "1e1%"]
)
def test_anything_else_is_refused(written: object) -> None:
    with pytest.raises(ValidationError, match="not a share"):
        SHARES.validate_python(written)
