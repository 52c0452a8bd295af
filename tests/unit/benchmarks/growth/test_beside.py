from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.growth.beside import Beside, by_size, say_size
from benchmarks.growth.fit import error, exponent
from pipeline.capacity.limits import Forecast


def point(steady: float, forecast: float) -> Beside:
    outcome = SimpleNamespace(steady=steady, first_output_s=4.04, usage=SimpleNamespace(others_cpu_s=0.06))
    return Beside(cast(Any, outcome), Forecast(forecast, (), 1, 1.0, 0.0))


def test_a_point_is_kept_beside_its_forecast() -> None:
    assert point(100, 120).row() == {"measured": 100, "model": 120, "model_error": 0.2, "others_cpu_s": 0.1}
    assert point(100, 80).in_words() == "100/s; model 80/s (-20%)"


def test_a_size_is_a_row_and_all_of_them_are_a_growth(capsys: pytest.CaptureFixture[str]) -> None:
    points = {10: point(1000, 1000), 1000: point(100, 100)}
    sizes = by_size("backlog", points)
    assert sizes["growth_exponent"] == pytest.approx(0.5)
    rows = cast(list[dict[str, object]], sizes["points"])
    assert [(row["backlog"], row["ms_an_event"], row["first_output_s"]) for row in rows] == [(10, 1, 4), (1000, 10, 4)]
    assert "grows with the backlog to the power of +0.500" in capsys.readouterr().out
    say_size("backlog", 1000, points[1000])
    assert "1,000: 10.000 ms an event, first output after 4.0 s, 100/s" in capsys.readouterr().out


def test_one_size_grows_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert by_size("deferred", {10: point(1000, 900)})["growth_exponent"] is None
    assert capsys.readouterr().out == ""


@given(st.floats(-1, 3), st.floats(0.001, 1000))
def test_the_exponent_of_a_power_is_found(power: float, factor: float) -> None:
    assert exponent({size: factor * size**power for size in (10, 100, 1000)}) == pytest.approx(power, abs=1e-6)


def test_what_is_fixed_is_left_out_below_the_least() -> None:
    costs = {10: 5.0, 100: 5.0, 1000: 10.0, 10_000: 100.0}
    assert exponent(costs, least=1000) == pytest.approx(1)
    assert exponent(costs) < 0.5


def test_an_error_is_told_as_a_share_of_what_was_measured() -> None:
    assert error(120, 100) == pytest.approx(0.2)
    assert error(80, 100) == pytest.approx(-0.2)
