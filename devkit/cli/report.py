"""`devkit report`."""

from pathlib import Path

import click


@click.command(short_help="Write report.html again from a run's evidence.")
@click.argument("run_directory", type=click.Path(path_type=Path), default=Path("runs/latest"))
def report(run_directory: Path) -> None:
    """Write report.html again from the evidence in RUN_DIRECTORY, by default that of the newest run."""
    from devkit.report.page.page import render_page
    from devkit.report.run_record import read_run
    from devkit.report.run_reports import REPORT, write_whole

    page = run_directory / REPORT
    write_whole(page, render_page(read_run(run_directory)))
    click.echo(page)
