"""`devkit report`."""

from pathlib import Path

import click


@click.command(short_help="Write report.html again from a run's evidence.")
@click.argument("run_directory", type=click.Path(path_type=Path), default=Path("runs/latest"))
def report(run_directory: Path) -> None:
    """Write report.html again from the evidence in RUN_DIRECTORY, by default that of the newest run.

    The directory may also be that of several runs, `series-TIME`.
    """
    from devkit.report.page.page import render_page, render_series
    from devkit.report.run_record import read_run
    from devkit.report.run_reports import REPORT, write_whole
    from devkit.report.series_directory import is_series, read_series

    page = run_directory / REPORT
    if is_series(run_directory):
        write_whole(page, render_series(read_series(run_directory)))
    else:
        write_whole(page, render_page(read_run(run_directory)))
    click.echo(page)
