from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from devkit.observe.bounded_figure import BoundedFigure, format_bounds, format_figure
from devkit.report.margins import Margin, RunFigure, figures_of, margin_lines, margins_of
from devkit.report.page.page import render_series
from devkit.report.run_series import Series, SeriesRun, series_lines
from tests.unit.devkit.report.conftest import a_good_result, an_arm, expectation


@pytest.mark.parametrize(
    ("bounds", "value", "margin"),
    [
        ({"at_most": 0.8}, 0.84, -0.05),
        ({"at_most": 0.8}, 0.4, 0.5),
        ({"at_least": 20}, 22, 0.1),
        ({"at_least": 20}, 19, -0.05),
        ({"at_least": 100, "at_most": 200}, 190, 0.05),
        ({"at_least": 100, "at_most": 200}, 110, 0.1),
        ({"at_least": 0, "at_most": 10}, 5, 0.5),
        ({"at_most": 0}, 0, None),  # no share of nothing
        ({"at_least": 3, "at_most": 3}, 3, None),  # exactly, so there is no near
    ],
)
def test_the_margin_is_a_share_of_the_nearer_bound(
    bounds: dict[str, float], value: float, margin: float | None
) -> None:
    found = BoundedFigure.model_validate({"value": value, **bounds}).margin
    assert found == (None if margin is None else pytest.approx(margin))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12.3456, "s", "12.35s"),
        (0.3123, "share", "31.23%"),
        (4 << 20, "bytes", "4MiB"),
        (200_000_000, "", "200000000"),
        (5.25, "/s", "5.25/s"),
        (0, "", "0"),
    ],
)
def test_a_figure_has_its_unit(value: float, unit: str, text: str) -> None:
    assert format_figure(value, unit) == text


def test_bounds_for_a_person() -> None:
    texts = [format_bounds(*bounds, "s") for bounds in ((1, None), (None, 2), (1, 2), (3, 3))]
    assert texts == ["at least 1s", "at most 2s", "at least 1s and at most 2s", "3s"]


def a_figure(value: float, *, arm: str = "incident", expected: str = "at most 0.8", **bounds: float) -> RunFigure:
    figure = BoundedFigure.model_validate({"value": value, **(bounds or {"at_most": 0.8})})
    return RunFigure(arm=arm, expectation="batch_growth", expected=expected, depends_on_time=True, figure=figure)


def test_the_figures_of_all_runs_make_a_margin_for_each_bound() -> None:
    fixed = a_figure(3, arm="fixed", expected="at least 1", at_least=1)
    runs = [(a_figure(0.5), fixed), (a_figure(0.84),), (a_figure(0.7), fixed)]
    same = {"expectation": "batch_growth", "depends_on_time": True}
    upper = {"arm": "incident", "expected": "at most 0.8", "at_most": 0.8, "nearest": pytest.approx(-0.05)}
    lower = {"arm": "fixed", "expected": "at least 1", "at_least": 1, "nearest": 2}
    assert [margin.model_dump(exclude_defaults=True) for margin in margins_of(runs)] == [
        same | upper | {"runs": 3, "least": 0.5, "median": 0.7, "most": 0.84},
        same | lower | {"runs": 2, "least": 3, "median": 3, "most": 3},
    ]


def test_runs_with_other_bounds_are_not_mixed() -> None:
    """A stretched run has other bounds. The arms stay together."""
    fixed = a_figure(1, arm="fixed")
    runs = [
        (a_figure(9, expected="at most 10s", at_most=10), fixed),
        (a_figure(18, expected="at most 20s", at_most=20),),
    ]
    found = [(margin.arm, margin.bound, margin.runs) for margin in margins_of(runs)]
    assert found == [("incident", "at most 10", 1), ("incident", "at most 20", 1), ("fixed", "at most 0.8", 1)]


@pytest.mark.parametrize(("holds", "values"), [(True, [0.5]), (False, [0.5]), (None, [])])
def test_what_could_not_be_judged_says_nothing_of_the_bound(holds: bool | None, values: list[float]) -> None:
    figures = (BoundedFigure(value=0.5, at_most=0.8),)
    item = expectation("batch_growth", "at most 0.8", "0.50", holds, figures=figures)
    result = a_good_result().model_copy(update={"arms": {"incident": an_arm(expectations=(item,), holds=holds)}})
    assert [one.figure.value for one in figures_of(result)] == values


class TestInASeries:
    def series(self, *values: float) -> Series:
        found = Series(scenario="a", title="", began=datetime(2026, 1, 1, tzinfo=UTC), planned=2, repeat="devkit")
        for seed, value in enumerate(values):
            run: dict[str, Any] = {"seed": seed, "outcome": "incident arm holds", "exit_code": 0, "reason": ""}
            run |= {"duration_s": 1, "directory": None, "figures": (a_figure(value),)}
            found = found.with_run(SeriesRun.model_validate(run))
        return found

    def test_the_text_has_a_table(self) -> None:
        lines = list(series_lines(self.series(0.5, 0.84), Path("runs/a/series-1")))
        start = lines.index("how near the runs came to the bounds of their expectations:")
        assert lines[start + 1 : -2] == [
            "  arm       least  median  most  bound        nearest  runs  time  expectation",
            "  incident  0.5    0.67    0.84  at most 0.8  -5%      2     yes   batch_growth: at most 0.8",
        ]

    def test_the_json_has_the_margins_and_is_read_again(self) -> None:
        series = self.series(0.5, 0.84)
        assert Series.model_validate_json(series.model_dump_json()) == series
        assert [(one.least, one.most) for one in series.margins] == [(0.5, 0.84)]

    def test_the_page_has_a_table(self) -> None:
        assert "How near the runs came to their bounds" in render_series(self.series(0.5))
        without = self.series(0.5).model_copy(update={"margins": ()})
        assert "How near the runs came to their bounds" not in render_series(without)

    def test_none_without_a_bound(self) -> None:
        assert list(margin_lines(())) == []


def test_a_margin_names_which_figure_of_several() -> None:
    figures = {"depends_on_time": False, "runs": 1, "least": 0, "median": 0, "most": 0}
    audit = {"arm": "fixed", "expectation": "audit", "expected": "lost 0", "figure": "lost"}
    margin = Margin.model_validate(audit | figures)
    assert margin.name == "audit: lost 0 (lost)"
