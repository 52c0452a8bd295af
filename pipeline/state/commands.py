"""`python -m pipeline state show | verify --config FILE`: exit 0, 1 Spark could not read it, 2 refused or not as it
should be.
"""

import sys
from pathlib import Path

import click

from pipeline.config.config_file import load_config
from pipeline.driver.identity import Identity
from pipeline.driver.job_checkpoint import last_commit, read_content, size_of
from pipeline.driver.session import start_session
from pipeline.errors import RefusedError
from pipeline.ops.command_group import CommandGroup
from pipeline.ops.exit_codes import exit_codes
from pipeline.state.initial_state import DIRECTORY
from pipeline.state.report import (
    StateReport,
    document,
    initial_problems,
    lines_of,
    logged_rows,
    problems,
    read_initial_state,
    read_state,
)
from pipeline.state.store_settings import store_settings

_CONFIG = click.option(
    "--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file."
)
# It reads files, wherever the job itself runs.
_SPARK = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    # A store reports to the coordinator of a query when it is loaded, and fails where there is no query.
    "spark.sql.streaming.stateStore.coordinatorReportSnapshotUploadLag": "false",
}


@click.group(cls=CommandGroup)
def state() -> None:
    """Show or verify what a job remembers, with a Spark of its own."""


@state.command(short_help="Show the rows of the job's state.")
@_CONFIG
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object. Default: text.")
def show(config_file: Path, *, as_json: bool) -> None:
    """Show operator, partitions, rows and bytes of the state after the last committed batch."""
    with exit_codes():
        _, report = _read(config_file)
    for line in [document(report)] if as_json else lines_of(report):
        click.echo(line)


@state.command(short_help="Check that the job's state is whole.")
@_CONFIG
@click.option(
    "--log",
    "log_file",
    type=click.Path(path_type=Path),
    help="The job's log, to compare the number of rows with what Spark reported. Default: not compared.",
)
def verify(config_file: Path, log_file: Path | None) -> None:
    """Check that every partition can be read after the last committed batch, and is what the first start fixed."""
    with exit_codes():
        identity, report = _read(config_file)
        if report.batch is None:
            found_problems = initial_problems(report, identity.bootstrap if identity else None)
        else:
            logged = _logged(log_file, report.batch) if log_file else None
            found_problems = problems(report, identity.state if identity else None, logged)
    for problem in found_problems:
        click.echo(problem)
    if found_problems:
        sys.exit(RefusedError.exit_code)
    what = "the state of the bootstrap" if report.batch is None else f"the state after batch {report.batch}"
    click.echo(f"{what} is whole: {report.rows} rows, {len(report.partitions)} partitions")


def _read(config_file: Path) -> tuple[Identity | None, StateReport]:
    config = load_config(config_file)
    place = config.checkpoint
    spark = start_session("state", _SPARK)
    try:
        spark.sparkContext.setLogLevel("ERROR")
        content = read_content(spark, place)
        batch = last_commit(spark, place)
        identity = Identity.read(content.identity, place) if content.identity else None
        if batch is None and identity is not None and identity.bootstrap is not None:
            return identity, read_initial_state(spark, place, size=size_of(spark, place, DIRECTORY))
        if "state" not in content.spark.entries or batch is None:
            raise RefusedError(
                f"checkpoint {place} has no state of a committed batch",
                hint="source.deduplicate gives a job one, from its first batch on",
            )
        if identity is not None and identity.state is not None:
            for key, value in store_settings(config, identity.state).items():
                spark.conf.set(key, value)
        return identity, read_state(spark, place, batch, size=size_of(spark, place, "state"))
    finally:
        spark.stop()


def _logged(log_file: Path, batch: int) -> int:
    try:
        with log_file.open(encoding="utf-8", errors="replace") as lines:
            rows = logged_rows(lines, batch)
    except OSError as error:
        raise RefusedError(f"--log {log_file}: cannot be read: {error.strerror}") from error
    if rows is None:
        raise RefusedError(
            f"--log {log_file} has no state_committed of batch {batch}",
            hint="Spark reports a batch after the next one; name the log of the job's last process",
        )
    return rows
