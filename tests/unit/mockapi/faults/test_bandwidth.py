import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.reply import PIECE_BYTES
from tests.unit.mockapi.faults.planned import delivery, problem


@given(st.integers(1, 1 << 40))
def test_the_steps_together_make_the_rate(bytes_a_second: int) -> None:
    pace = delivery({"bandwidth": bytes_a_second}).pace
    assert pace is not None
    assert 1 <= pace.step_bytes <= PIECE_BYTES
    assert pace.step_bytes / pace.every_s == pytest.approx(bytes_a_second)
    assert not pace.at_once


def test_a_rate_of_nothing_is_refused() -> None:
    assert "greater than or equal to 1" in problem({"bandwidth": 0})
