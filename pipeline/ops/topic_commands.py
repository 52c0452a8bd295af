"""`python -m pipeline replay` and `fan-out`: events of a topic once more.

Exit 1 Kafka failed, 2 refused, 130 stopped with Ctrl-C.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from located_config.duration import format_duration
from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.kafka.cluster import source_brokers
from pipeline.ops.copying import CopyStoppedError, Pace, copy_all, opened_target
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.fan_out import copied, make_target, require_target
from pipeline.ops.options import EventRate
from pipeline.ops.replay import FORMS, parse_edge, part_between, replayed
from pipeline.ops.source import Bounds, SourceRecord, opened_topic, total
from pipeline.ops.spark_checkpoint import Offsets

_CONFIG = click.option(
    "--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file."
)


@click.command(short_help="Send a part of the job's source again.")
@click.option("--from", "begin", required=True, metavar="WHERE", help=f"The first event to replay: {FORMS}.")
@click.option(
    "--to", "end", required=True, metavar="WHERE", help="The first event that is not replayed, in the same forms."
)
@click.option(
    "--into",
    "target",
    required=True,
    metavar="TOPIC",
    help="Topic to write to; it may be the job's source topic itself.",
)
@click.option(
    "--rate",
    type=EventRate(),
    default="100/s",
    show_default=True,
    metavar="RATE",
    help="Rate of sending: 20/s, 100/min, or a number of events a second.",
)
@click.option(
    "--topic",
    "chosen",
    metavar="TOPIC",
    help="Source topic to replay from. Default: the job's, if it reads only one.",
)
@click.option("--dry-run", is_flag=True, help="Print the number of events, and send nothing.")
@_CONFIG
def replay(
    begin: str, end: str, target: str, rate: float, chosen: str | None, config_file: Path, *, dry_run: bool
) -> None:
    """Publish events of the job's source topic again. Headers of each copy name the original's position and time."""
    with exit_codes():
        config = load_config(config_file)
        _require_not_written(config, target, "--into")
        now = datetime.now(UTC)
        edges = parse_edge(begin, now), parse_edge(end, now)
        bootstrap, topic = source_brokers(config), _one_topic(config, chosen)
        with (
            opened_topic(bootstrap, topic) as source,
            opened_topic(bootstrap, target, named_by="--into") as target_topic,
        ):
            bounds = source.bounds()
            part = part_between(source, bounds, *edges)
            keep_partition = len(target_topic.bounds().end) == len(bounds.end)
            for partition, first in part.first.items():
                click.echo(f"{source.topic}/{partition}: {first} up to {part.end[partition]}")
            count = total(part.first, part.end)
            if (repeats := _dropped_as_repeats(config, target)) is not None:
                click.echo(repeats)
            if dry_run:
                click.echo(f"{count} events, {count / rate:.0f} s at {rate:g} a second; none is sent")
                return
            remaining = dict(part.first)
            with opened_target(bootstrap, target, config.sink.max_request_size) as producer:
                copies = (
                    replayed(record, source.topic, keep_partition=keep_partition)
                    for record in _tracked(source.records(part.first, part.end), remaining)
                )
                try:
                    sent = copy_all(copies, producer, Pace(rate))
                except CopyStoppedError as error:
                    goes_on = f"--from {_written(remaining)} --to {_written(part.end)} --into {target} --rate {rate:g}"
                    goes_on += f" --topic {topic}" if chosen else ""
                    raise CopyStoppedError(error.sent, hint=f"it goes on with {goes_on}") from None
        click.echo(f"{sent} events replayed into {target}")


@click.command("fan-out", short_help="Copy a topic into a new or empty one, with the page as key.")
@click.argument("src")
@click.argument("dst")
@click.option(
    "--partitions", type=click.IntRange(min=1), default=32, show_default=True, help="Number of partitions of DST."
)
@_CONFIG
def fan_out(src: str, dst: str, partitions: int, config_file: Path) -> None:
    """Copy the records of topic SRC into DST, a new or empty topic, with the page as key.

    Records that are written to SRC meanwhile are not copied.
    """
    with exit_codes():
        if src == dst:
            raise RefusedError(f"{src} cannot be copied into itself", hint="name a topic that is not there")
        config = load_config(config_file)
        _require_not_written(config, dst, "DST")
        bootstrap = source_brokers(config)
        with opened_topic(bootstrap, src, named_by="SRC") as source:
            bounds: Bounds = source.bounds()
            make_target(bootstrap, src, dst, partitions)
            with opened_topic(bootstrap, dst, named_by="DST") as target:
                require_target(target.bounds(), dst, partitions)
            with opened_target(bootstrap, dst, config.sink.max_request_size) as producer:
                copies = (copied(record, src) for record in source.records(bounds.first, bounds.end))
                try:
                    sent = copy_all(copies, producer)
                except CopyStoppedError as error:
                    raise CopyStoppedError(error.sent, hint=f"delete {dst}, and begin again") from None
        click.echo(f"{sent} events copied into {dst}, {partitions} partitions")


def _one_topic(config: PipelineConfig, chosen: str | None) -> str:
    """Raises RefusedError for a topic that the job does not read, or where it is not clear which."""
    topics = config.source.all_topics
    if chosen is None and len(topics) > 1:
        raise RefusedError(f"the job reads {len(topics)} topics", hint=f"--topic says which: {', '.join(topics)}")
    if chosen is not None and chosen not in topics:
        raise RefusedError(f"--topic {chosen}: the job does not read it", hint=f"it reads {', '.join(topics)}")
    return chosen or topics[0]


def _require_not_written(config: PipelineConfig, target: str, named_by: str) -> None:
    """Raises RefusedError for a topic into which the job itself writes. Its readers end at a source event, and that of
    the ledger is the job: no start could read it any more.
    """
    if config.source.bootstrap_servers != config.sink.bootstrap_servers:
        return  # of the same name at most
    for key, topic in config.written_topics:
        if topic == target:
            raise RefusedError(
                f"{named_by} {target} is {key}, and would have source events among what the job writes there",
                hint="name a topic that jobs read as their source",
            )


def _dropped_as_repeats(config: PipelineConfig, target: str) -> str | None:
    """Which copies this job will not process; None where it drops no repeats, or does not read them."""
    deduplicate = config.source.deduplicate
    if deduplicate is None or target not in config.source.all_topics:
        return None
    if deduplicate.within == "ever":
        return "the job drops every copy as a repeat of its original (source.deduplicate)"
    window = format_duration(deduplicate.within)
    return f"the job drops a copy as a repeat where its original is less than {window} old (source.deduplicate)"


def _tracked(records: Iterable[SourceRecord], remaining: dict[int, int]) -> Iterator[SourceRecord]:
    """The records; after each one, `remaining` has the next offset of its partition."""
    for record in records:
        yield record
        remaining[record.partition] = record.offset + 1


def _written(offsets: Offsets) -> str:
    """As --from and --to read them."""
    return ",".join(f"{partition}:{offset}" for partition, offset in offsets.items())
