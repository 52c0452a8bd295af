"""Renders several runs of a scenario as one HTML file: the rates, and each run with a link to its own report."""

from devkit.observe.settings import not_as_shipped
from devkit.report.page.html import environment, part, policy
from devkit.report.run_series import CONFIDENCE, Series


def render_series(series: Series) -> str:
    """The whole document, for the directory of the series."""
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
