"""Renders a run as one HTML file that needs nothing else: style, script and drawings are in it, the network is not."""

from devkit.observe.arm_role import TWO_ARMS
from devkit.observe.settings import not_as_shipped
from devkit.report.explanation import CAUSE, examples
from devkit.report.page.excerpts import excerpts
from devkit.report.page.html import environment, part, policy
from devkit.report.page.panels import PANELS
from devkit.report.page.plot import HEIGHT, WIDE, panel_plots
from devkit.report.page.shown_proof import proof
from devkit.report.page.story import paragraph, verdict
from devkit.report.page.strip import strips
from devkit.report.page.tables import delivery, measured, programs
from devkit.report.run_record import RunRecord
from devkit.report.source_link import source_link

_MOST_ITEMS = 40


def render_page(run: RunRecord) -> str:
    """The whole document."""
    style, script = (part("report.css"), part("report.js"))
    duration_s = max((arm.duration_s for arm in run.arms.values()), default=0.0) or 1.0
    panels = [panel_plots(panel, run.arms, duration_s) for panel in PANELS]
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
            panels=[panel for panel in panels if panel],
            duration_s=duration_s,
            height=HEIGHT,
            wide=WIDE,
            examples=_examples(run),
            measured=measured(run),
            delivery=delivery(run),
            programs=programs(run),
            every="both" if len(run.metadata.roles) == len(TWO_ARMS) else "all",
            cause_shows=CAUSE,
            proof=proof(run.result) if run.result else None,
            excerpts={name: excerpts(run.directory, arm) for name, arm in run.arms.items()},
            reference_link=source_link(run.metadata.reference),
            most_items=_MOST_ITEMS,
        )
    )


def _examples(run: RunRecord) -> dict[str, tuple[str, ...]]:
    """By arm; those without any are left out."""
    found = {name: examples(arm) for name, arm in run.result.arms.items()} if run.result else {}
    return {name: of_arm for name, of_arm in found.items() if of_arm}
