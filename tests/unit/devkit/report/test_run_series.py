import pytest
from pydantic import ValidationError

from devkit.report.result import Outcome
from devkit.report.run_series import Series, SeriesRun, series_lines, wilson

OUTCOMES: dict[int, Outcome] = {0: "reproduced and fixed", 1: "not reproduced", 3: "inconclusive"}


def a_run(seed: int, code: int, *, finished: bool = True) -> SeriesRun:
    return SeriesRun(
        seed=seed,
        outcome=OUTCOMES[code],
        exit_code=code,
        reason="" if not code else "why it did not",
        duration_s=41.26,
        directory=f"runs/a/{seed}" if finished else None,
    )


def of(*codes: int) -> Series:
    return Series.of("a-storm", [a_run(seed, code) for seed, code in enumerate(codes, 7)])


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
    assert of(*codes).exit_code == worst


def test_each_code_has_its_rate_also_one_that_did_not_come() -> None:
    rates = {rate.exit_code: (rate.runs, rate.share) for rate in of(0, 0, 0, 1).rates}
    assert rates == {0: (3, 0.75), 1: (1, 0.25), 3: (0, 0.0)}


def test_as_text() -> None:
    series = Series.of("a-storm", [a_run(7, 0), a_run(8, 1), a_run(9, 3, finished=False)])
    assert list(series_lines(series)) == [
        "",
        "a-storm: 3 runs",
        "  seed  exit  outcome               took  evidence",
        "  7     0     reproduced and fixed  41s   runs/a/7",
        "  8     1     not reproduced        41s   runs/a/8",
        "  9     3     inconclusive          41s   why it did not",
        "  seed 8: why it did not",
        "",
        "exit 0, holds:         1 of 3, 33%  (6% to 79% with 95% confidence)",
        "exit 1, refuted:       1 of 3, 33%  (6% to 79% with 95% confidence)",
        "exit 3, inconclusive:  1 of 3, 33%  (6% to 79% with 95% confidence)",
    ]


def test_it_can_be_read_again() -> None:
    series = of(0, 3)
    assert Series.model_validate_json(series.model_dump_json()) == series
    with pytest.raises(ValidationError):
        Series.model_validate({**series.model_dump(), "more": 1})
