import html
import re
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

import pytest
from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.report.outcome import Outcome
from devkit.report.page.page import render_series
from devkit.report.run_series import Series, SeriesRun, series_lines, wilson
from devkit.report.series_directory import SERIES, is_series, read_series, runs_of, write_series
from devkit.report.text_layout import columns

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
