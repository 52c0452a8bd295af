from pathlib import Path

import pytest

from devkit.compare.series_comparison import SeriesComparison, series_comparison_lines
from tests.unit.devkit.report.test_run_series import of

ALWAYS, HALF, NEVER = (of(*codes) for codes in ((0, 0, 0, 0, 0, 0), (0, 1, 0, 3, 0, 1), (1, 1, 1, 1, 1, 1)))


def compared(a: object, b: object) -> SeriesComparison:
    return SeriesComparison.of((Path("runs/a/series-1"), a), (Path("runs/a/series-2"), b))  # type: ignore[arg-type]


def test_as_text() -> None:
    whole = of(0, 1, 0, 1)
    assert list(series_comparison_lines(compared(whole, of(0, 0)))) == [
        "a: a-storm, 4 runs",
        "   runs/a/series-1",
        "b: a-storm, 2 runs",
        "   runs/a/series-2",
        "   interrupted: 2 of 4 runs were not played",
        "",
        "how often each verdict came, and its interval with 95% confidence:",
        "                        a                    b",
        "  exit 0, holds         2 of 4 (15% to 85%)  2 of 2 (34% to 100%)  may be chance: the intervals overlap",
        "  exit 1, refuted       2 of 4 (15% to 85%)  0 of 2 (0% to 66%)    may be chance: the intervals overlap",
        "  exit 3, inconclusive  0 of 4 (0% to 49%)   0 of 2 (0% to 66%)",
        "",
        "seeds that both played (1 seed with the same outcome):",
        "  seed  a               b",
        "  8     not reproduced  reproduced and fixed",
    ]


@pytest.mark.parametrize(("other", "apart"), [(NEVER, True), (HALF, False), (ALWAYS, False)])
def test_rates_differ_where_their_intervals_have_nothing_in_common(other: object, apart: bool) -> None:
    found = compared(ALWAYS, other)
    assert {rate.exit_code: rate.apart for rate in found.rates} == {0: apart, 1: apart, 3: False}
    assert compared(other, ALWAYS).rates[0].apart == apart
    assert any(line.endswith("differs") for line in series_comparison_lines(found)) == apart
