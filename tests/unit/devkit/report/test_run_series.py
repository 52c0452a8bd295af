import html
import re
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.observe.bounded_figure import BoundedFigure, format_bounds, format_figure
from devkit.report.margins import Margin, RunFigure, figures_of, margin_lines, margins_of
from devkit.report.outcome import Outcome
from devkit.report.page.page import render_series
from devkit.report.run_series import Series, SeriesRun, series_lines, wilson
from devkit.report.series_directory import SERIES, is_series, read_series, runs_of, write_series
from devkit.report.text_layout import columns
from tests.unit.devkit.report.conftest import a_good_result, an_arm, expectation

OUTCOMES: dict[int, Outcome] = {0: "reproduced and fixed", 1: "not reproduced", 3: "inconclusive"}


def a_run(seed: int, code: int, *, finished: bool = True) -> SeriesRun:
    return SeriesRun(
        seed=seed,
        outcome=OUTCOMES[code],
        exit_code=code,
        reason="" if not code else "why it did not",
        next_step="end what else uses the machine" if code == 3 else "",
        duration_s=41.26,
        directory=f"runs/a/{seed}" if finished else None,
    )


EMPTY = Series(
    scenario="a-storm",
    title="A storm",
    began=datetime(2026, 11, 23, 3, tzinfo=UTC),
    planned=4,
    repeat="devkit scenario run a-storm --seed 7 --runs 4",
)


def series_of(*codes: int) -> Series:
    return reduce(Series.with_run, [a_run(seed, code) for seed, code in enumerate(codes, 7)], EMPTY)


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"),
    [
        # From Wilson (1927) as tables of the interval have it.
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (1, 2, 0.0945, 0.9055),
        (95, 100, 0.8882, 0.9785),
    ],
)
def test_the_interval_of_a_rate(hits: int, runs: int, low: float, high: float) -> None:
    assert wilson(hits, runs) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("codes", "worst"), [((0, 0), 0), ((0, 1), 1), ((1, 3, 0), 3), ((3, 1), 3)], ids=lambda value: str(value)
)
def test_the_exit_code_is_that_of_the_worst_run(codes: tuple[int, ...], worst: int) -> None:
    assert series_of(*codes).exit_code == worst


def test_each_code_has_its_rate_also_one_that_did_not_come() -> None:
    rates = {rate.exit_code: (rate.runs, rate.share) for rate in series_of(0, 0, 0, 1).rates}
    assert rates == {0: (3, 0.75), 1: (1, 0.25), 3: (0, 0.0)}


def test_as_text(tmp_path: Path) -> None:
    series = series_of(0, 1).with_run(a_run(9, 3, finished=False))
    assert list(series_lines(series, Path("runs/a/series-1"))) == [
        "",
        "a-storm: 3 runs",
        "  interrupted: 1 of 4 runs were not played",
        "  seed  exit  outcome               took  evidence",
        "  7     0     reproduced and fixed  41s   runs/a/7",
        "  8     1     not reproduced        41s   runs/a/8",
        "  9     3     inconclusive          41s   why it did not",
        "  seed 8: why it did not",
        "  seed 9: next: end what else uses the machine",
        "",
        "exit 0, holds:         1 of 3, 33%  (6% to 79% with 95% confidence)",
        "exit 1, refuted:       1 of 3, 33%  (6% to 79% with 95% confidence)",
        "exit 3, inconclusive:  1 of 3, 33%  (6% to 79% with 95% confidence)",
        "",
        "evidence: runs/a/series-1",
    ]


def test_columns_are_aligned_and_lines_have_no_trailing_spaces() -> None:
    rows = [("seed", "exit", "evidence"), ("7", "0", "runs/a b"), ("8", "130", "")]
    assert list(columns(rows, indent=" ")) == [" seed  exit  evidence", " 7     0     runs/a b", " 8     130"]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="more"):
        Series.model_validate({**series_of(0, 3).model_dump(), "more": 1})


def test_a_series_without_a_run_says_nothing_of_the_scenario() -> None:
    assert EMPTY.exit_code == 3


class TestDirectory:
    def test_what_was_written_is_read_with_the_runs_beside_it(self, tmp_path: Path) -> None:
        series = series_of(0).with_run(a_run(9, 3, finished=False))
        write_series(tmp_path, series)
        assert is_series(tmp_path)
        assert read_series(tmp_path) == series
        assert runs_of(tmp_path) == (tmp_path.parent / "7",)

    def test_none(self, tmp_path: Path) -> None:
        assert not is_series(tmp_path)
        with pytest.raises(UsageError, match=r"series.json cannot be read: No such file"):
            read_series(tmp_path)
        (tmp_path / SERIES).write_text('{"scenario": "a"}')
        with pytest.raises(UsageError, match=r"written by another version of the kit: .*title: is missing"):
            read_series(tmp_path)


class TestPage:
    def test_it_has_the_rates_and_a_row_for_each_run(self) -> None:
        page = render_series(series_of(0, 1).with_run(a_run(9, 3, finished=False)))
        rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<tr.*?</tr>", page)]
        assert rows == [
            "verdict exit code runs share interval",
            "holds 0 1 of 3 33 % 6% to 79%",
            "refuted 1 1 of 3 33 % 6% to 79%",
            "inconclusive 3 1 of 3 33 % 6% to 79%",
            "seed exit code outcome took evidence why",
            "7 0 ✓ reproduced and fixed 41.3 s 7",
            "8 1 ✗ not reproduced 41.3 s 8 why it did not",
            "9 3 ? inconclusive 41.3 s none why it did not next: end what else uses the machine",
        ]
        assert 'href="../7/report.html"' in page
        assert "The series was interrupted: 1 of 4 runs were not played." in page
        assert '<section class="verdict unknown"' in page

    def test_what_others_wrote_is_escaped_and_nothing_is_fetched(self) -> None:
        page = render_series(series_of(0).model_copy(update={"title": "<script>alert(1)</script>"}))
        assert "<script" not in page
        assert "script-src" not in page  # so that the default, none, is that of scripts too
        assert "default-src 'none'" in html.unescape(page)


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
