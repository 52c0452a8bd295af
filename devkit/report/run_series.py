"""Several runs of one scenario, each with a seed of its own: how each ended, and the rate of each exit code.

The interval of a rate is Wilson's: with a confidence of 95 % the rate in the long run lies in it. Five runs that all
end with 0 say no more than that it is above 57 %.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import NormalDist

from pydantic import BaseModel, ConfigDict

from devkit.errors import INCONCLUSIVE, REFUTED, REPRODUCED_AND_FIXED
from devkit.report.columns import columns
from devkit.report.result import Outcome

CONFIDENCE = 0.95
_CODES = {REPRODUCED_AND_FIXED: "holds", REFUTED: "refuted", INCONCLUSIVE: "inconclusive"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SeriesRun(_Model):
    """One run. `reason` is the first of its result, or why the harness did not finish it: `directory` is None then."""

    seed: int
    outcome: Outcome
    exit_code: int
    reason: str
    duration_s: float
    directory: str | None


class ExitRate(_Model):
    """`runs` ended with the code: the `share` of all, which lies between `at_least` and `at_most`."""

    exit_code: int
    runs: int
    share: float
    at_least: float
    at_most: float


class Series(_Model):
    """`exit_code` is the worst one: 3, of which nothing is known, counts for worse than 1."""

    scenario: str
    runs: tuple[SeriesRun, ...]
    rates: tuple[ExitRate, ...]
    exit_code: int

    @classmethod
    def of(cls, scenario: str, runs: Sequence[SeriesRun]) -> "Series":
        """At least one run."""
        counts = Counter(run.exit_code for run in runs)
        rates = tuple(_rate(code, counts[code], len(runs)) for code in _CODES)
        return cls(scenario=scenario, runs=tuple(runs), rates=rates, exit_code=max(counts))


def wilson(hits: int, runs: int) -> tuple[float, float]:
    """Bounds of the rate of which `hits` out of `runs` is a sample (Wilson's score interval)."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, spread = hits / runs, z * z / runs
    middle, half = share + spread / 2, z * (share * (1 - share) / runs + spread / 4 / runs) ** 0.5
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def series_lines(series: Series) -> Iterator[str]:
    """Lines without line ends."""
    yield ""
    yield f"{series.scenario}: {len(series.runs)} runs"
    head = ("seed", "exit", "outcome", "took", "evidence")
    rows = [
        (str(run.seed), str(run.exit_code), run.outcome, f"{run.duration_s:.0f}s", run.directory or run.reason)
        for run in series.runs
    ]
    yield from columns([head, *rows], indent="  ")
    for run in series.runs:
        if run.exit_code and run.directory:
            yield f"  seed {run.seed}: {run.reason}"
    yield ""
    yield from columns(
        [
            (
                f"exit {rate.exit_code}, {_CODES[rate.exit_code]}:",
                f"{rate.runs} of {len(series.runs)}, {rate.share:.0%}",
                f"({rate.at_least:.0%} to {rate.at_most:.0%} with {CONFIDENCE:.0%} confidence)",
            )
            for rate in series.rates
        ]
    )


def _rate(code: int, hits: int, runs: int) -> ExitRate:
    low, high = wilson(hits, runs)
    return ExitRate(
        exit_code=code, runs=hits, share=round(hits / runs, 4), at_least=round(low, 4), at_most=round(high, 4)
    )
