"""Rows of measured points, with outcomes of the test's own."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.growth.beside import Beside, by_size, say_size
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
