"""What was used between two moments."""

import pytest

from benchmarks.engine.usage import Usage


def test_between_two_looks_in_proportion() -> None:
    usage = Usage({}, 0.0, [(10.0, {"mock": 1.0}), (20.0, {"mock": 3.0, "engine": 4.0})])
    assert usage.between(15.0, 20.0) == pytest.approx({"mock": 1.0, "engine": 2.0})
    assert usage.between(0.0, 99.0) == pytest.approx({"mock": 2.0, "engine": 4.0})
