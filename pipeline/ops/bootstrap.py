"""A checkpoint for `rdf-decide` that goes on from a dump: what the store has of each entity, and where the source's
events behind the dump begin.

Nothing is overwritten, and the position is written last (`pipeline.state.initial_state`): a bootstrap that is ended in
between leaves a checkpoint that no job begins with.
"""

import io
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

from located_config.count import counted
from pipeline.aligned.start_offsets import offsets_text
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.identity import FILE, Identity, content_names, require_checkpoint
from pipeline.driver.job_checkpoint import BEGIN
from pipeline.errors import RefusedError
from pipeline.ops.checkpoint_write import RECENT
from pipeline.ops.files import CheckpointFiles
from pipeline.ops.moment import milliseconds, show
from pipeline.ops.rev_map import RevMap
from pipeline.ops.source import Bounds
from pipeline.ops.spark_checkpoint import Offsets, inspect_checkpoint
from pipeline.state.initial_state import DIRECTORY, ENTITY, LAST, InitialState, require_complete
from pipeline.state.state_mark import decides_operations

_FILE_ROWS = 250_000
_ENTITY_S = 0.33e-3
"""Of one core, for an entity in the first batch: `./justw bench entity-state`, 10^6 entities in 164 s on two cores."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where the events of a topic begin for the job, beside what it holds."""

    offsets: Offsets
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What is to be written, or was: `bytes` are those of the files with the entities, 0 before they are made."""

    checkpoint: str
    since: datetime
    rev_map: RevMap
    starts: Mapping[str, Start]
    bytes: int = 0

    @property
    def mark(self) -> InitialState:
        """As it is kept in the checkpoint."""
        entities = len(self.rev_map.revisions)
        return InitialState(entities=entities, files=-(-entities // _FILE_ROWS), since_ms=milliseconds(self.since))


def require_job(config: PipelineConfig) -> None:
    """Raises RefusedError for a job that decides nothing by entity."""
    if not decides_operations(config):
        raise RefusedError(
            f"the job {config.job} has no state of entities",
            hint="--config is the file of a job rdf-decide; another job begins by `run --new timestamp=…`",
        )


def require_unused(files: CheckpointFiles, now: datetime) -> None:
    """Raises RefusedError for a checkpoint of a job that runs or has run, and for a place that holds anything else."""
    entries = content_names(files.entries())
    if not entries:
        return
    require_checkpoint(entries, files.place)
    checkpoint = inspect_checkpoint(files)
    require_complete(entries, files.place, has_position=checkpoint.has_position)
    held = "a position" if checkpoint.has_position else f"{', '.join(entries)} and no position"
    if checkpoint.last is not None:
        state = " and a state" if "state" in entries else ""
        held = f"batch {checkpoint.last.number} of {show(checkpoint.last.at)}{state}"
    age = now - max(files.names().values(), default=datetime.min.replace(tzinfo=UTC))
    runs = f", written {max(0, round(age.total_seconds()))} s ago: does the job run?" if age < RECENT else ""
    raise RefusedError(
        f"checkpoint {files.place} exists: it holds {held}{runs}",
        hint=f"a job takes up an initial state before its first batch alone: {'stop it, and ' if runs else ''}"
        "name a place that holds nothing as `checkpoint` in the job's file",
    )


def write_bootstrap(
    files: CheckpointFiles, plan: Bootstrap, own: Identity, advance: Callable[[int], None] = lambda _entities: None
) -> int:
    """Write the checkpoint; `own` is whose it is, `advance` gets the number of entities of each file. Returns the bytes
    of these. Raises RefusedError when a job was faster, PipelineError.
    """
    written = 0
    for number, (entities, content) in enumerate(_files(plan.rev_map.revisions)):
        files.write(f"{DIRECTORY}/part-{number:05d}.parquet", content)
        written += len(content)
        advance(entities)
    mark = own.model_copy(update={"bootstrap": plan.mark})
    files.write(FILE, mark.model_dump_json().encode())
    offsets = {
        topic: {str(partition): offset for partition, offset in start.offsets.items()}
        for topic, start in plan.starts.items()
    }
    files.write(BEGIN, offsets_text(offsets).encode())
    return written


def _files(revisions: Mapping[str, int]) -> Iterator[tuple[int, bytes]]:
    """The rows of each file, and its content."""
    remaining = iter(revisions.items())
    while rows := list(itertools.islice(remaining, _FILE_ROWS)):
        entities, last = zip(*rows, strict=True)
        table = pa.table({ENTITY: pa.array(entities, pa.string()), LAST: pa.array(last, pa.int64())})
        content = io.BytesIO()
        pq.write_table(table, content)
        yield len(rows), content.getvalue()


def lines(plan: Bootstrap, *, is_written: bool) -> Iterator[str]:
    """What the command prints."""
    mark = plan.mark
    yield f"checkpoint  {plan.checkpoint}"
    repeated = plan.rev_map.repeated
    ignored = f"; {counted(repeated, 'repeated line')} left out" if repeated else ""
    size = f", {plan.bytes} bytes" if is_written else ""
    yield f"entities    {mark.entities:,} in {counted(mark.files, 'file')}{size}{ignored}"
    yield f"events      since {show(plan.since)}"
    row = "{:<40} {:>9} {:>12} {:>12} {:>12}".format
    yield row("topic", "partition", "starts at", "end", "events")
    for topic, start in plan.starts.items():
        for partition, offset in sorted(start.offsets.items()):
            end = start.bounds.end[partition]
            yield row(topic, partition, offset, end, end - offset)


def slow_start(entities: int, config: PipelineConfig) -> str | None:
    """A line on a first batch that may take longer than the job lets it; None where it has the time."""
    partitions = config.state.partitions or 1
    expected = timedelta(seconds=entities * _ENTITY_S / partitions)
    if 2 * expected < config.stall_timeout:
        return None
    return (
        f"the first batch takes the entities up, for about {expected.total_seconds():.0f} s on "
        f"{counted(partitions, 'core')}: stall_timeout is {config.stall_timeout.total_seconds():g} s, set it to "
        "several times that for the first start"
    )


def document(plan: Bootstrap, *, is_written: bool) -> str:
    """What the command prints with --json: one object."""
    mark = plan.mark
    return json.dumps(
        {
            "checkpoint": plan.checkpoint,
            "written": is_written,
            "entities": mark.entities,
            "repeated": plan.rev_map.repeated,
            "files": mark.files,
            "bytes": plan.bytes,
            "since": plan.since.isoformat(),
            "topics": {
                topic: [
                    {"partition": partition, "start": offset, "end": start.bounds.end[partition]}
                    for partition, offset in sorted(start.offsets.items())
                ]
                for topic, start in plan.starts.items()
            },
        }
    )
