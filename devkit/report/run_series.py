"""Several runs of one scenario, each with a seed of its own: how each ended, the rate of each exit code, and how near
the runs came to the bounds of their expectations.

The interval of a rate is Wilson's: with a confidence of 95 % the rate in the long run lies in it. Five runs that all
end with 0 say no more than that it is above 57 %.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist

from pydantic import AwareDatetime, BaseModel, ConfigDict

from devkit.errors import INCONCLUSIVE, REFUTED, REPRODUCED_AND_FIXED
from devkit.observe.settings import ChangedValue
from devkit.report.margins import Margin, RunFigure, margin_lines, margins_of
from devkit.report.outcome import Outcome
from devkit.report.text_layout import columns
from located_config.count import counted

CONFIDENCE = 0.95
_CODES = {REPRODUCED_AND_FIXED: "holds", REFUTED: "refuted", INCONCLUSIVE: "inconclusive"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SeriesRun(_Model):
    """One run. `reason` is the first of its result, or why the harness did not finish it: `directory` is None then.
    `next_step` says of an inconclusive one what to do about it, where that is known. `figures` are what its
    expectations held against a bound.
    """

    seed: int
    outcome: Outcome
    exit_code: int
    reason: str
    next_step: str = ""
    duration_s: float
    directory: str | None
    figures: tuple[RunFigure, ...] = ()

    @property
    def run_name(self) -> str:
        """The name of its directory, which lies beside that of the series; empty where it has none."""
        return Path(self.directory).name if self.directory else ""


class ExitRate(_Model):
    """`runs` ended with the code: the `share` of all, which lies between `at_least` and `at_most`."""

    exit_code: int
    runs: int
    share: float
    at_least: float
    at_most: float

    @property
    def name(self) -> str:
        """What that code says of a run."""
        return _CODES[self.exit_code]

    @property
    def interval(self) -> str:
        """For a person."""
        return f"{self.at_least:.0%} to {self.at_most:.0%}"


class Series(_Model):
    """Runs of one scenario, of which `planned` were to be played: there are fewer where the series was interrupted.

    `repeat` is the command that plays it again, `changes` are values that the command line set in the scenario's file.
    Directories of runs are written as the command line had them.
    """

    scenario: str
    title: str
    began: AwareDatetime
    planned: int
    repeat: str
    changes: tuple[ChangedValue, ...] = ()
    runs: tuple[SeriesRun, ...] = ()
    rates: tuple[ExitRate, ...] = ()
    margins: tuple[Margin, ...] = ()

    def with_run(self, run: SeriesRun) -> "Series":
        """One more, and the rates and margins with it."""
        runs = (*self.runs, run)
        counts = Counter(played.exit_code for played in runs)
        return self.model_copy(
            update={
                "runs": runs,
                "rates": tuple(_rate(code, counts[code], len(runs)) for code in _CODES),
                "margins": margins_of(played.figures for played in runs),
            }
        )

    @property
    def exit_code(self) -> int:
        """That of the worst run: 3, of which nothing is known, counts for worse than 1."""
        return max((run.exit_code for run in self.runs), default=INCONCLUSIVE)

    @property
    def unfinished(self) -> str:
        """That runs are missing, for a person; empty where they are all there."""
        missing = self.planned - len(self.runs)
        return f"interrupted: {missing} of {self.planned} runs were not played" if missing else ""


def wilson(hits: int, runs: int) -> tuple[float, float]:
    """Bounds of the rate of which `hits` out of `runs` is a sample (Wilson's score interval)."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, spread = hits / runs, z * z / runs
    middle, half = share + spread / 2, z * (share * (1 - share) / runs + spread / 4 / runs) ** 0.5
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def series_lines(series: Series, directory: Path) -> Iterator[str]:
    """Lines without line ends; `directory` is that of the series."""
    yield ""
    yield f"{series.scenario}: {counted(len(series.runs), 'run')}"
    if series.unfinished:
        yield f"  {series.unfinished}"
    head = ("seed", "exit", "outcome", "took", "evidence")
    rows = [
        (str(run.seed), str(run.exit_code), run.outcome, f"{run.duration_s:.0f}s", run.directory or run.reason)
        for run in series.runs
    ]
    yield from columns([head, *rows], indent="  ")
    for run in series.runs:
        if run.exit_code and run.directory:
            yield f"  seed {run.seed}: {run.reason}"
        if run.next_step:
            yield f"  seed {run.seed}: next: {run.next_step}"
    yield ""
    yield from columns(
        [
            (
                f"exit {rate.exit_code}, {rate.name}:",
                f"{rate.runs} of {len(series.runs)}, {rate.share:.0%}",
                f"({rate.interval} with {CONFIDENCE:.0%} confidence)",
            )
            for rate in series.rates
        ]
    )
    yield ""
    if series.margins:
        yield "how near the runs came to the bounds of their expectations:"
        yield from margin_lines(series.margins)
        yield ""
    yield f"evidence: {directory}"


def _rate(code: int, hits: int, runs: int) -> ExitRate:
    low, high = wilson(hits, runs)
    return ExitRate(
        exit_code=code, runs=hits, share=round(hits / runs, 4), at_least=round(low, 4), at_most=round(high, 4)
    )
