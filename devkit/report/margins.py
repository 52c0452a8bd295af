"""How near several runs came to the bounds of their expectations: least, median and most of each figure.

Result ─▶ RunFigure for each bound ─▶ over all runs: Margin
"""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from pydantic import BaseModel, ConfigDict

from devkit.observe.arm_role import ArmName
from devkit.observe.bounded_figure import BoundedFigure, format_bounds, format_figure
from devkit.report.result import Result
from devkit.report.text_layout import columns


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunFigure(_Model):
    """A figure of one run, with the arm and the expectation that bounds it."""

    arm: ArmName
    expectation: str
    expected: str
    depends_on_time: bool
    figure: BoundedFigure


class Margin(_Model):
    """The figures of `runs` runs that one bound was held against, in its `unit`. `nearest` is the smallest distance of
    a run to it, as a share of the bound, and below 0 beyond it; None where there is no distance to speak of: the bound
    is 0, or admits one value only. `depends_on_time`: in at least one run.

    A run in which the figure was not measured, or the machine was too busy to judge it, does not count.
    """

    arm: ArmName
    expectation: str
    expected: str
    figure: str = ""
    unit: str = ""
    depends_on_time: bool
    runs: int
    least: float
    median: float
    most: float
    at_least: float | None = None
    at_most: float | None = None
    nearest: float | None = None

    @property
    def name(self) -> str:
        """The expectation as the scenario's file has it, for a person."""
        return f"{self.expectation}: {self.expected}" + (f" ({self.figure})" if self.figure else "")

    @property
    def bound(self) -> str:
        """For a person, with its unit."""
        return format_bounds(self.at_least, self.at_most, self.unit)

    @property
    def distance(self) -> str:
        """`nearest` for a person."""
        return "" if self.nearest is None else f"{self.nearest:.0%}"

    def formatted(self) -> tuple[str, str, str]:
        """Least, median and most, for a person."""
        return (
            format_figure(self.least, self.unit),
            format_figure(self.median, self.unit),
            format_figure(self.most, self.unit),
        )


def figures_of(result: Result) -> tuple[RunFigure, ...]:
    """What its expectations held against a bound, without those that could not be judged."""
    return tuple(
        RunFigure(
            arm=name,
            expectation=item.name,
            expected=item.expected,
            depends_on_time=item.depends_on_time,
            figure=figure,
        )
        for name, arm in result.arms.items()
        for item in arm.expectations
        if item.holds is not None
        for figure in item.figures
    )


def margins_of(runs: Iterable[Sequence[RunFigure]]) -> tuple[Margin, ...]:
    """In the order of the expectations. A run that was stretched has other bounds, and a line of its own."""
    by_bound: dict[tuple[str, ...], list[RunFigure]] = {}
    for run in runs:
        for figure in run:
            bound = (figure.arm, figure.expectation, figure.expected, figure.figure.name)
            by_bound.setdefault(bound, []).append(figure)
    order = {arm: place for place, arm in enumerate(dict.fromkeys(arm for arm, *_ in by_bound))}
    return tuple(_margin(by_bound[key]) for key in sorted(by_bound, key=lambda key: order[key[0]]))


def margin_lines(margins: Sequence[Margin]) -> Iterator[str]:
    """A table without line ends; nothing where there is no margin."""
    if not margins:
        return
    head = ("arm", "least", "median", "most", "bound", "nearest", "runs", "time", "expectation")
    rows = [
        (
            margin.arm,
            *margin.formatted(),
            margin.bound,
            margin.distance,
            str(margin.runs),
            _yes(margin.depends_on_time),
            margin.name,
        )
        for margin in margins
    ]
    yield from columns([head, *rows], indent="  ")


def _yes(value: bool) -> str:
    return "yes" if value else ""


def _margin(figures: Sequence[RunFigure]) -> Margin:
    first, values = figures[0], [item.figure.value for item in figures]
    return Margin(
        arm=first.arm,
        expectation=first.expectation,
        expected=first.expected,
        figure=first.figure.name,
        unit=first.figure.unit,
        depends_on_time=any(item.depends_on_time for item in figures),
        runs=len(figures),
        least=min(values),
        median=median(values),
        most=max(values),
        at_least=first.figure.at_least,
        at_most=first.figure.at_most,
        nearest=min((margin for item in figures if (margin := item.figure.margin) is not None), default=None),
    )
