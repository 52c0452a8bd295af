"""What differs between two series of runs: how often each verdict came, and seeds that came to another one.

Series, Series ─▶ SeriesComparison ─▶ text, JSON
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from devkit.observe.settings import ChangedValue, not_as_shipped
from devkit.report.outcome import Outcome
from devkit.report.run_series import CONFIDENCE, ExitRate, Series
from devkit.report.text_layout import columns
from located_config.count import counted


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ComparedSeries(_Model):
    """One of the two; `unfinished` says that runs are missing, and is empty where they are all there."""

    directory: str
    scenario: str
    runs: int
    unfinished: str
    changes: tuple[ChangedValue, ...]


class ComparedRate(_Model):
    """How often an exit code came. `apart`: the intervals have nothing in common, so the rates of the two differ."""

    exit_code: int
    name: str
    a: ExitRate
    b: ExitRate
    apart: bool


class ComparedSeed(_Model):
    """A seed that both played."""

    seed: int
    a: Outcome
    b: Outcome


class SeriesComparison(_Model):
    """`seeds` are those that both played, the ones that came to the same among them."""

    a: ComparedSeries
    b: ComparedSeries
    rates: tuple[ComparedRate, ...]
    seeds: tuple[ComparedSeed, ...]

    @classmethod
    def of(cls, a: tuple[Path, Series], b: tuple[Path, Series]) -> "SeriesComparison":
        """Each with its directory."""
        series_a, series_b = a[1], b[1]
        of_b = {run.seed: run.outcome for run in series_b.runs}
        return cls(
            a=_series(*a),
            b=_series(*b),
            rates=tuple(
                ComparedRate(exit_code=x.exit_code, name=x.name, a=x, b=y, apart=_apart(x, y))
                for x, y in zip(series_a.rates, series_b.rates, strict=True)
            ),
            seeds=tuple(
                ComparedSeed(seed=run.seed, a=run.outcome, b=of_b[run.seed])
                for run in series_a.runs
                if run.seed in of_b
            ),
        )


def series_comparison_lines(comparison: SeriesComparison) -> Iterator[str]:
    """Lines without line ends."""
    a, b = comparison.a, comparison.b
    for name, series in (("a", a), ("b", b)):
        yield f"{name}: {series.scenario}, {counted(series.runs, 'run')}"
        yield f"   {series.directory}"
        yield from (f"   {text}" for text in (series.unfinished, not_as_shipped(series.changes)) if text)
    if a.scenario != b.scenario:
        yield "They are of different scenarios."
    yield ""
    yield f"how often each verdict came, and its interval with {CONFIDENCE:.0%} confidence:"
    rows = [
        (f"exit {rate.exit_code}, {rate.name}", _rate(rate.a, a), _rate(rate.b, b), _remark(rate))
        for rate in comparison.rates
    ]
    yield from columns([("", "a", "b", ""), *rows], indent="  ")
    yield ""
    differing = [seed for seed in comparison.seeds if seed.a != seed.b]
    equal = len(comparison.seeds) - len(differing)
    yield f"seeds that both played ({counted(equal, 'seed')} with the same outcome):"
    if differing:
        yield from columns([("seed", "a", "b"), *((str(seed.seed), seed.a, seed.b) for seed in differing)], indent="  ")
    elif not comparison.seeds:
        yield "  none"


def _series(directory: Path, series: Series) -> ComparedSeries:
    return ComparedSeries(
        directory=str(directory),
        scenario=series.scenario,
        runs=len(series.runs),
        unfinished=series.unfinished,
        changes=series.changes,
    )


def _apart(a: ExitRate, b: ExitRate) -> bool:
    return a.at_least > b.at_most or b.at_least > a.at_most


def _rate(rate: ExitRate, series: ComparedSeries) -> str:
    return f"{rate.runs} of {series.runs} ({rate.interval})"


def _remark(rate: ComparedRate) -> str:
    if rate.apart:
        return "differs"
    return "" if rate.a.share == rate.b.share else "may be chance: the intervals overlap"
