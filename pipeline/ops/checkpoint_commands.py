"""`python -m pipeline checkpoint show | verify | fork | set-offsets` and `lag`: exit 1 no answer, 2 refused.

`verify` is exit 2 as well when the job could not continue.
"""

import sys
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.identity import FILE, Identity, require_checkpoint, require_own
from pipeline.errors import RefusedError
from pipeline.kafka.cluster import source_brokers
from pipeline.kafka.record_quirks import record_time_ms
from pipeline.ops import checkpoint_write as write
from pipeline.ops.broker import cluster_id
from pipeline.ops.command_group import CommandGroup
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.files import CheckpointFiles, open_files
from pipeline.ops.lag import lines as lag_lines
from pipeline.ops.lag import measure, total_line
from pipeline.ops.moment import FORMS, milliseconds, parse_moment, show
from pipeline.ops.source import Bounds, SourceTopic, opened_topic, shown, total
from pipeline.ops.spark_checkpoint import (
    Offsets,
    SparkCheckpoint,
    damages,
    inspect_checkpoint,
    last_written,
    lines,
    read_checkpoint,
    require_position,
)
from pipeline.state.state_mark import pinned

_AGAIN = "begin again at another checkpoint, with `run --new`"


def problems(checkpoint: SparkCheckpoint, topics: Mapping[str, Bounds]) -> list[str]:
    """Each reason why the job could not continue from a whole checkpoint, with what there is to do: a checkpoint of
    another topic, or of offsets that the broker no longer has. `topics` are those that the job reads.
    """
    reasons = [*_of_topics(checkpoint, topics)]
    for topic, bounds in topics.items():
        reasons += _of_broker(checkpoint, topic, bounds)
    return reasons


def _of_topics(checkpoint: SparkCheckpoint, topics: Collection[str]) -> Iterator[str]:
    foreign = sorted(set(checkpoint.topics) - set(topics))
    if foreign:
        yield (
            f"it is of topic {', '.join(foreign)}, and the job reads {', '.join(topics)}: name this job's checkpoint, "
            "or give the new topic one with `run --new`"
        )


def _of_broker(checkpoint: SparkCheckpoint, topic: str, bounds: Bounds) -> Iterator[str]:
    offsets = dict(checkpoint.committed().get(topic, {}))
    planned = dict(checkpoint.last.ends.get(topic, {})) if checkpoint.last and not checkpoint.is_committed else {}
    for partition in sorted({*offsets, *planned}):
        place = f"{topic}/{partition}"
        if partition not in bounds.end:
            yield f"partition {place} is not there: the topic was made again with fewer; {_AGAIN}"
            continue
        begin, end = bounds.first[partition], bounds.end[partition]
        offset, furthest = offsets.get(partition, 0), max(offsets.get(partition, 0), planned.get(partition, 0))
        if furthest > end:
            yield (
                f"{place}/{furthest} is behind the topic's end {end}: it is another cluster's, or the topic was made "
                f"again; {_AGAIN}"
            )
        elif partition in offsets and offset < begin:
            yield (
                f"{place}/{offset} is gone: retention has kept {begin} and later, {begin - offset} events are lost; "
                "set-offsets --at goes on with what remains"
            )


CONFIG_OPTION = click.option(
    "--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file."
)
ENDPOINT_OPTION = click.option(
    "--s3-endpoint",
    "endpoint",
    help="URL of the store of an s3a:// checkpoint. Default: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL of the "
    "environment, else the job's claim_check.endpoint.",
)
_STOPPED = click.option(
    "--stopped",
    is_flag=True,
    help="Confirm that the job is stopped, although its checkpoint has changed within the last minute.",
)


@click.group(cls=CommandGroup)
def checkpoint() -> None:
    """Show, verify or fork a job's checkpoint, or set its offsets."""


@checkpoint.command("show", short_help="Show batches and offsets of the checkpoint.")
@CONFIG_OPTION
@ENDPOINT_OPTION
def show_(config_file: Path, endpoint: str | None) -> None:
    """Show batches, offsets, query id, and whether the last batch is committed."""
    with exit_codes():
        files = _files(load_config(config_file), endpoint)
        spark_checkpoint, identity = read_checkpoint(files), _identity(files)
        for line in lines(spark_checkpoint, last_written(files)):
            click.echo(line)
        click.echo(f"made by     {identity.in_words() if identity else 'unknown: there is no job.json'}")
        if identity and identity.state:
            click.echo(f"state       {identity.state.in_words()}")
        if identity and identity.bootstrap:
            is_taken_up = bool(spark_checkpoint.commits)
            status = "its first batch has taken them up" if is_taken_up else "its first batch takes them up"
            click.echo(f"bootstrap   {identity.bootstrap.in_words()}; {status}")


@checkpoint.command(short_help="Check that the job can continue.")
@CONFIG_OPTION
@ENDPOINT_OPTION
def verify(config_file: Path, endpoint: str | None) -> None:
    """Check that the job can continue: the files are complete, of its topics, and the broker still has the offsets."""
    with exit_codes():
        config = load_config(config_file)
        files = _files(config, endpoint)
        spark_checkpoint, identity = inspect_checkpoint(files), _identity(files)
        found_problems = damages(
            files,
            spark_checkpoint,
            has_state=identity is not None and identity.state is not None,
            bootstrap=identity.bootstrap if identity else None,
        )
        if not found_problems:
            require_position(spark_checkpoint)
        with opened_sources(config) as sources:
            found_problems += _foreign_entries(spark_checkpoint)
            found_problems += problems(spark_checkpoint, {source.topic: source.bounds() for source in sources})
        # For the topics the offsets have shown it already.
        own = _own(config, identity)
        if identity is not None and not (found_problems and identity.source != own.source):
            found_problems += [f"another job has made it: {difference}" for difference in identity.differences(own)]
        try:
            pinned(
                identity.state if identity else None,
                config,
                checkpoint=spark_checkpoint.place,
                slots=1,
                exists=identity is None or identity.has_begun,
            )
        except RefusedError as error:
            found_problems.append(f"{error}; {error.hint}")
    for problem in found_problems:
        click.echo(problem)
    if found_problems:
        sys.exit(RefusedError.exit_code)
    click.echo(f"the job can continue from checkpoint {spark_checkpoint.place}")


@checkpoint.command(short_help="Copy the checkpoint to another place.")
@click.argument("target")
@CONFIG_OPTION
@ENDPOINT_OPTION
def fork(target: str, config_file: Path, endpoint: str | None) -> None:
    """Copy the checkpoint to TARGET, an empty path or s3a:// place, with a new query id."""
    with exit_codes():
        config = load_config(config_file)
        files = _files(config, endpoint)
        _require_own(config, files, read_checkpoint(files), of_cluster=False)
        copied = write.fork(files, _files(config, endpoint, target), uuid.uuid4())
    click.echo(f"{target}: {copied.files} files, query id {copied.query_id}")
    if config.deferral.policy == "defer":
        click.echo("two jobs with one deferral.topic end each other: give the other one a topic of its own")


@checkpoint.command("set-offsets", short_help="Have a stopped job continue from a point in time.")
@click.option("--at", "moment", metavar="TIMESTAMP", required=True, help=f"Point in time to continue from: {FORMS}.")
@click.option(
    "--into", "target", help="Write a new checkpoint to this place. Default: change the job's own, which needs --yes."
)
@click.option(
    "--yes",
    is_flag=True,
    help="Confirm that the job's own checkpoint is changed, and that events which retention has deleted are skipped.",
)
@_STOPPED
@CONFIG_OPTION
@ENDPOINT_OPTION
def set_offsets(
    moment: str, target: str | None, config_file: Path, endpoint: str | None, *, yes: bool, stopped: bool
) -> None:
    """Have a stopped job continue from a point in time, by the timestamps of the records in Kafka."""
    with exit_codes():
        config = load_config(config_file)
        now = datetime.now(UTC)
        at = parse_moment(moment, now)
        files = _files(config, endpoint)
        spark_checkpoint = read_checkpoint(files)
        write.require_planned(spark_checkpoint)
        write.require_stateless(files, _identity(files))
        if not stopped:
            write.require_stopped(spark_checkpoint.place, last_written(files), now)
        if target is None and not yes:
            raise RefusedError(
                f"this would set checkpoint {spark_checkpoint.place} itself",
                hint="--into PLACE makes another, --yes sets it",
            )
        if target is not None:
            write.require_beside(_files(config, endpoint, target), files)
        _require_own(config, files, spark_checkpoint)
        with opened_sources(config) as sources:
            ends = {source.topic: offsets_at(source, at, yes=yes) for source in sources}
        if target is None:
            number = write.set_in_place(files, spark_checkpoint, ends)
            click.echo(f"{spark_checkpoint.place}: batch {number} ends at {show(at)}")
        else:
            write.set_beside(_files(config, endpoint, target), spark_checkpoint, ends, uuid.uuid4())
            click.echo(f"{target}: a new checkpoint, at {show(at)}; name it as `checkpoint` in the job's file")
        _print_difference(spark_checkpoint, ends)


@click.command(short_help="Show how far the job is behind.")
@CONFIG_OPTION
@ENDPOINT_OPTION
def lag(config_file: Path, endpoint: str | None) -> None:
    """Show how far the job is behind, in events and seconds, over all partitions of its topics.

    The last line is the total of several topics.
    """
    with exit_codes():
        config = load_config(config_file)
        files = _files(config, endpoint)
        spark_checkpoint = read_checkpoint(files)
        _require_own(config, files, spark_checkpoint)
        with opened_sources(config) as sources:
            lags = {
                source.topic: measure(spark_checkpoint, source.topic, source.bounds(), source.first_record)
                for source in sources
            }
        now_ms = milliseconds(datetime.now(UTC))
        for topic, of_partitions in lags.items():
            for line in lag_lines(topic, of_partitions, now_ms):
                click.echo(line)
        if len(lags) > 1:
            click.echo(total_line(lags, now_ms))


def offsets_at(source: SourceTopic, at: datetime, *, yes: bool) -> Offsets:
    """The first offset of each partition at that time or later, its end where there is none. Raises RefusedError where
    retention has deleted events since then, unless `yes` accepts that.
    """
    bounds = source.bounds()
    offsets = source.at(milliseconds(at), bounds)
    oldest = {
        partition: time_ms
        for partition, first in bounds.first.items()
        if 0 < first == offsets[partition] < bounds.end[partition]
        and (record := source.first_record(partition, first, bounds.end[partition]))
        and (time_ms := record_time_ms(record.timestamp_ms)) is not None
    }
    lost = write.lost_before(offsets, bounds.first, oldest, at)
    if lost and not yes:
        raise RefusedError(
            f"retention has taken events of topic {source.topic}: {'; '.join(lost)}",
            hint="name a later moment, or go on with what remains: --yes",
        )
    for partition, first in bounds.first.items():
        if 0 < first == bounds.end[partition]:
            click.echo(
                f"warning: topic {source.topic}, partition {partition}: retention has deleted all its {first} events; "
                f"any of {at.isoformat()} or later are missing",
                err=True,
            )
    return offsets


def _print_difference(spark_checkpoint: SparkCheckpoint, ends: Mapping[str, Offsets]) -> None:
    again = skipped = 0
    for topic, offsets in ends.items():
        old_offsets = spark_checkpoint.committed().get(topic, {})
        label = "offsets" if len(ends) == 1 else f"offsets of {topic}"
        click.echo(f"{label} {shown(old_offsets.items())} -> {shown(offsets.items())}")
        again += total(offsets, old_offsets)
        skipped += total(old_offsets, {p: o for p, o in offsets.items() if p in old_offsets})
    click.echo(f"{again} events come again, {skipped} are passed over")
    if (last := spark_checkpoint.last) and not spark_checkpoint.is_committed:
        click.echo(
            f"batch {last.number} was planned and not committed, and is given up: some of its events may have "
            "been emitted, and of pages with deferred events a later one may be emitted before an earlier one"
        )


def _identity(files: CheckpointFiles) -> Identity | None:
    return Identity.read(files.read(FILE), files.place) if FILE in files.entries() else None


def _own(config: PipelineConfig, made_by: Identity | None) -> Identity:
    """The job's, with the cluster of its source where `made_by` says one to compare it with. Raises PipelineError."""
    has_cluster = made_by is not None and made_by.cluster is not None
    return Identity.of(config, cluster_id(source_brokers(config)) if has_cluster else None)


def _require_own(
    config: PipelineConfig, files: CheckpointFiles, spark_checkpoint: SparkCheckpoint, *, of_cluster: bool = True
) -> None:
    """As `run` does; the broker is asked only with `of_cluster`. Raises RefusedError, PipelineError."""
    identity = _identity(files)
    own = _own(config, identity) if of_cluster else Identity.of(config, None)
    try:
        require_own(identity, own, checkpoint=spark_checkpoint.place, topics=spark_checkpoint.topics)
    except RefusedError as error:
        raise RefusedError(str(error), hint="--config is the file of the job whose checkpoint it is") from None


def _foreign_entries(spark_checkpoint: SparkCheckpoint) -> Iterator[str]:
    try:
        require_checkpoint(spark_checkpoint.entries, spark_checkpoint.place)
    except RefusedError as error:
        yield f"{error}; move that away"


def _files(config: PipelineConfig, endpoint: str | None, place: str | None = None) -> CheckpointFiles:
    return open_files(place or config.checkpoint, config.claim_check, endpoint=endpoint)


@contextmanager
def opened_sources(config: PipelineConfig) -> Iterator[list[SourceTopic]]:
    """Each topic that the job reads. Raises PipelineError when no broker answers."""
    with ExitStack() as stack:
        yield [stack.enter_context(opened_topic(source_brokers(config), topic)) for topic in config.source.all_topics]
