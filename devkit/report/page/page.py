"""Renders a run, or several of one scenario, as one HTML file that has its style, script and drawings in it."""

from devkit.observe.arm_role import TWO_ARMS
from devkit.observe.settings import not_as_shipped
from devkit.report.explanation import CAUSE, examples
from devkit.report.page.excerpts import excerpts
from devkit.report.page.fault_tables import fault_tables
from devkit.report.page.html import environment, part, policy, source_link
from devkit.report.page.panels import FIRST_PANELS, PANELS
from devkit.report.page.plot import HEIGHT, WIDE, drawn_panels
from devkit.report.page.story import paragraph, verdict
from devkit.report.page.strip import strips
from devkit.report.page.tables import delivery, measured, programs
from devkit.report.run_record import RunRecord
from devkit.report.run_series import CONFIDENCE, Series

_MOST_ITEMS = 40
# Of an expectation, as the longest of the kit's own; a metric of another program may be far longer.
_LONG_NAME = 24


def render_page(run: RunRecord) -> str:
    """The page of one run."""
    style, script = (part("report.css"), part("report.js"))
    duration_s = max((arm.duration_s for arm in run.arms.values()), default=0.0) or 1.0
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            metadata=run.metadata,
            not_as_shipped=not_as_shipped(run.metadata.changes),
            result=run.result,
            verdict=verdict(run),
            paragraph=paragraph(run),
            style=style,
            script=script,
            policy=policy(style, script),
            faulted=any(arm.faults for arm in run.arms.values()),
            strips=strips(run.arms, duration_s),
            first_panels=drawn_panels(FIRST_PANELS, run.arms, duration_s),
            panels=drawn_panels(PANELS[len(FIRST_PANELS) :], run.arms, duration_s),
            duration_s=duration_s,
            height=HEIGHT,
            wide=WIDE,
            examples=_examples(run),
            measured=measured(run),
            delivery=delivery(run),
            programs=programs(run),
            every="both" if len(run.metadata.roles) == len(TWO_ARMS) else "all",
            cause_shows=CAUSE,
            faults=fault_tables(run.result) if run.result else None,
            excerpts={name: excerpts(run.directory, arm) for name, arm in run.arms.items()},
            reference_link=source_link(run.metadata.reference),
            most_items=_MOST_ITEMS,
            long_name=_LONG_NAME,
        )
    )


def render_series(series: Series) -> str:
    """The page of several runs: the rates, and each run with a link to its own report."""
    style = part("report.css")
    return (
        environment()
        .get_template("series.html.j2")
        .render(
            series=series,
            not_as_shipped=not_as_shipped(series.changes),
            confidence=f"{CONFIDENCE:.0%}",
            style=style,
            policy=policy(style),
        )
    )


def _examples(run: RunRecord) -> dict[str, tuple[str, ...]]:
    """By arm; arms without examples are left out."""
    arms = run.result.arms if run.result else {}
    return {name: events for name, arm in arms.items() if (events := examples(arm))}
