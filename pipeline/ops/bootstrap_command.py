"""`python -m pipeline bootstrap --revisions FILE --from TIMESTAMP --config FILE`: exit 0, 1 no answer, 2 refused."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.identity import Identity
from pipeline.errors import RefusedError
from pipeline.kafka.broker_limits import source_ids
from pipeline.kafka.cluster import source_brokers
from pipeline.ops.bootstrap import (
    Bootstrap,
    Start,
    document,
    lines,
    require_job,
    require_unused,
    slow_start,
    write_bootstrap,
)
from pipeline.ops.broker import cluster_id
from pipeline.ops.checkpoint_commands import CONFIG_OPTION, ENDPOINT_OPTION, offsets_at, opened_sources
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.files import open_files
from pipeline.ops.moment import FORMS, parse_moment
from pipeline.ops.rev_map import RevMap, read_rev_map

_STEPS = 200
"""Of a progress bar."""


@click.command(short_help="Make the checkpoint of rdf-decide from a dump's revisions.")
@click.option(
    "--revisions",
    "rev_files",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="CSV file of the revision that the store has of each entity, Q42,123 in a line, without a header; repeat it "
    "for several files.",
)
@click.option(
    "--from",
    "moment",
    metavar="TIMESTAMP",
    required=True,
    help="Point in time from which the job reads its source: the oldest schema:dateModified of wikibase:Dump in the "
    f"dump; {FORMS}.",
)
@click.option(
    "--yes", is_flag=True, help="Confirm that events which retention has deleted since then are missing for good."
)
@click.option("--dry-run", is_flag=True, help="Print entities and offsets, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object. Default: text.")
@CONFIG_OPTION
@ENDPOINT_OPTION
def bootstrap(
    rev_files: tuple[Path, ...],
    moment: str,
    config_file: Path,
    endpoint: str | None,
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make the checkpoint with which rdf-decide goes on from a dump that a store was loaded with.

    The job then knows the revision of each entity that the store has, and reads the events since the dump began. Start
    it without --new.
    """
    with exit_codes():
        config = load_config(config_file)
        require_job(config)
        now = datetime.now(UTC)
        since = parse_moment(moment, now)
        files = open_files(config.checkpoint, config.claim_check, endpoint=endpoint)
        require_unused(files, now)
        rev_map = _read(rev_files)
        plan = Bootstrap(files.place, since, rev_map, _starts(config, since, yes=yes))
        if not dry_run:
            own = Identity.of(config, cluster_id(source_brokers(config)), source_ids(config))
            with _progress("writing", len(rev_map.revisions)) as advance:
                plan = replace(plan, bytes=write_bootstrap(files, plan, own, advance))
    if as_json:
        click.echo(document(plan, is_written=not dry_run))
        return
    for line in lines(plan, is_written=not dry_run):
        click.echo(line)
    if (warning := slow_start(len(rev_map.revisions), config)) is not None:
        click.echo(warning)
    click.echo("nothing is written" if dry_run else f"next: run {config.job} --config {config_file}, without --new")


def _starts(config: PipelineConfig, since: datetime, *, yes: bool) -> dict[str, Start]:
    with opened_sources(config) as sources:
        return {source.topic: Start(offsets_at(source, since, yes=yes), source.bounds()) for source in sources}


def _read(rev_files: tuple[Path, ...]) -> RevMap:
    try:
        size = sum(file.stat().st_size for file in rev_files)
    except OSError as error:
        raise RefusedError(f"--revisions {error.filename}: cannot be read: {error.strerror}") from error
    with _progress("reading", size) as advance:
        return read_rev_map(rev_files, advance)


@contextmanager
def _progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _steps: None
        return
    steps = max(1, length // _STEPS)
    with click.progressbar(length=length, label=label, file=sys.stderr, update_min_steps=steps) as bar:
        yield bar.update
