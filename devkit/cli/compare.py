"""`devkit compare`."""

from pathlib import Path

import click


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

    A RUN is a directory, NAME/TIME below the directory of runs, or the NAME of a scenario for its newest run.
    """
    from devkit.compare.comparison import RunComparison
    from devkit.compare.find_run import find_run
    from devkit.compare.lines import comparison_lines

    comparison = RunComparison.of(find_run(run_a, out), find_run(run_b, out))
    click.echo(comparison.model_dump_json(indent=2) if as_json else "\n".join(comparison_lines(comparison)))
