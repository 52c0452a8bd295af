"""`python -m pipeline claims sweep --older-than 30d [--dry-run] --config FILE`: exit 0, 1 no answer, 2 refused; and
`claims suppress`, likewise.

Where output records expire, a lifecycle rule of the bucket is the better tool: one that expires objects below
`claim_check.prefix` some days after the output topic's retention. The sweep is for topics whose records stay, and for
the orphans of crashes and changed limits.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from located_config.duration import format_duration, parse_duration
from pipeline.claims.orphans import ClaimShelf, Stored, unnamed
from pipeline.claims.suppressed_claims import outputs, suppressed_claims
from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.consumer.record_merge import PART_BYTES
from pipeline.errors import RefusedError
from pipeline.kafka.cluster import sink_brokers
from pipeline.ops.command_group import CommandGroup
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.files import usable_store
from pipeline.ops.source import OF_SINK, opened_topic
from pipeline.records.claim_check import store_client

_LEAST_AGE, _MOST_AGE = timedelta(hours=1), timedelta(days=36_500)


@click.group(cls=CommandGroup)
def claims() -> None:
    """Remove claim checks that are suppressed, or without a record.

    Suppressed is what is of a page that was deleted, or of a revision whose text, editor or comment was hidden.
    """


@claims.command()
@click.option("--dry-run", is_flag=True, help="Print what would be removed, and remove nothing.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file.")
def suppress(config_file: Path, *, dry_run: bool) -> None:
    """Remove claim checks of deleted pages and hidden revisions.

    Read all of the output topic to find them. Needed after the store was down, and for events published before the job
    had claim_check.suppressed: remove. Consumers then report such a payload as suppressed.
    """
    with exit_codes():
        suppress_job(load_config(config_file), dry_run=dry_run)


@claims.command()
@click.option(
    "--older-than",
    "age_text",
    metavar="AGE",
    required=True,
    help="Remove only claim checks older than this, for example 30d.",
)
@click.option(
    "--also",
    "more_topics",
    metavar="TOPIC",
    multiple=True,
    help="Keep also the claim checks that records of this topic refer to.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be removed, and remove nothing.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file.")
def sweep(age_text: str, more_topics: tuple[str, ...], config_file: Path, *, dry_run: bool) -> None:
    """Remove claim checks that no record of the output topic refers to.

    All of the topic is read. Name every other topic whose records refer to the same bucket and prefix with --also:
    a replay's, a copy's, another data centre's.
    """
    with exit_codes():
        config = load_config(config_file)
        sweep_job(config, age=parse_age(age_text, config), more_topics=more_topics, dry_run=dry_run)


def parse_age(text: str, config: PipelineConfig) -> timedelta:
    """Raises RefusedError for what is no duration, or so short that an event may still follow its claim check."""
    try:
        age = parse_duration(text)
    except ValueError as error:
        raise RefusedError(f"--older-than: {error}") from error
    if age > _MOST_AGE:
        raise RefusedError(f"--older-than {text} is longer than any store has been there", hint="30d is a good age")
    least_age = max(_LEAST_AGE, 2 * config.stall_timeout)
    if age < least_age:
        raise RefusedError(
            f"--older-than {text} is less than {format_duration(least_age)}: the event of a claim check may still be "
            "on its way",
            hint="it is stored first, and a batch may take stall_timeout, and be repeated; 30d is a good age",
        )
    return age


def sweep_job(config: PipelineConfig, *, age: timedelta, more_topics: Iterable[str], dry_run: bool) -> None:
    """Print what was looked at and what became of it. Raises PipelineError, RefusedError."""
    cutoff = datetime.now(UTC) - age
    with usable_store(f"bucket {config.claim_check.bucket}"):
        client = store_client(config.claim_check)
    shelf = ClaimShelf(client, config.claim_check)
    listing = shelf.look()
    old = [stored for stored in listing.claims if stored.written < cutoff]
    place = f"{config.claim_check.bucket}/{config.claim_check.prefix.strip('/')}"
    click.echo(
        f"{place}: {_counted(listing.claims)}, of which {_counted(old)} written before {cutoff:%Y-%m-%dT%H:%M:%SZ}"
    )
    if listing.others:
        click.echo(f"{place}: {listing.others} objects are no claim checks and stay")
    if not old:
        click.echo("nothing to remove")
        return
    with ExitStack() as stack:
        names = {config.sink.topic: OF_SINK}
        for name in more_topics:
            names.setdefault(name, "--also")
        topics = [
            stack.enter_context(opened_topic(sink_brokers(config), name, named_by=named_by, uncommitted=True))
            for name, named_by in names.items()
        ]
        orphans, read = unnamed(old, topics, config.claim_check.bucket, say=click.echo)
    for topic in read:
        click.echo(f"{topic.topic}: {topic.records} records, of which {topic.naming} name a claim check")
    removed = []
    for orphan in orphans:
        click.echo(f"{'would remove' if dry_run else 'removing'} {orphan.key}, {orphan.length_bytes} bytes")
        if dry_run or shelf.remove(orphan):
            removed.append(orphan)
        else:
            click.echo("  it was written again meanwhile, and stays")
    verb = "would be removed" if dry_run else "removed"
    click.echo(f"{_counted(removed)} {verb}, {len(old) - len(removed)} older ones stay")


def suppress_job(config: PipelineConfig, *, dry_run: bool) -> None:
    """Print what was looked at and what became of it. Raises PipelineError, RefusedError."""
    with usable_store(f"bucket {config.claim_check.bucket}"):
        shelf = ClaimShelf(store_client(config.claim_check), config.claim_check)
    with opened_topic(sink_brokers(config), config.sink.topic, named_by=OF_SINK, fetch_bytes=PART_BYTES) as topic:
        suppressed = suppressed_claims(outputs(topic, say=click.echo), config.claim_check.bucket)
    claims = suppressed.to_remove()
    click.echo(
        f"{config.sink.topic}: {suppressed.records} records; {len(claims)} claim checks are deleted or hidden since"
    )
    removed = 0
    for claim in claims:
        if dry_run:
            click.echo(f"would remove {claim.key}, suppressed by {claim.by}")
        elif shelf.suppress(claim):
            removed += 1
            click.echo(f"removed {claim.key}, suppressed by {claim.by}")
    if not dry_run:
        click.echo(f"{removed} removed, {len(claims) - removed} were gone before")


def _counted(stored: Iterable[Stored]) -> str:
    lengths = [claim.length_bytes for claim in stored]
    return f"{len(lengths)} claim checks of {sum(lengths)} bytes"
