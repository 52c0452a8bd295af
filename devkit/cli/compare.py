"""`devkit compare`."""

from pathlib import Path

import click

from devkit.errors import UsageError


@click.command(short_help="Compare two runs, from their evidence.")
@click.argument("run_a", metavar="RUN")
@click.argument("run_b", metavar="RUN")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Directory below which runs are named.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole comparison as JSON.")
def compare(run_a: str, run_b: str, out: Path, *, as_json: bool) -> None:
    """Compare two runs: verdicts, expectations side by side, figures with their ratio, configuration, machine.

    A RUN is a directory, NAME/TIME below the directory of runs, or the NAME of a scenario for its newest run. Two
    series of runs, NAME/series-TIME, are compared by the rate of each verdict.
    """
    from devkit.compare.comparison import RunComparison
    from devkit.compare.find_run import find_run, find_series
    from devkit.compare.lines import comparison_lines
    from devkit.compare.series_comparison import SeriesComparison, series_comparison_lines
    from devkit.report.series_directory import read_series

    series_a, series_b = find_series(run_a, out), find_series(run_b, out)
    if series_a and series_b:
        of_series = SeriesComparison.of((series_a, read_series(series_a)), (series_b, read_series(series_b)))
        click.echo(of_series.model_dump_json(indent=2) if as_json else "\n".join(series_comparison_lines(of_series)))
        return
    if series_a or series_b:
        raise UsageError(
            f"{series_a or series_b} is of several runs, and {run_b if series_a else run_a} is not",
            hint="name two series, or two runs: `series.json` has the directory of each run",
        )
    comparison = RunComparison.of(find_run(run_a, out), find_run(run_b, out))
    click.echo(comparison.model_dump_json(indent=2) if as_json else "\n".join(comparison_lines(comparison)))
