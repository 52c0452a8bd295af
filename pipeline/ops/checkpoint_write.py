"""New positions for a job that has stopped: a copy of its checkpoint with an id of its own, or another position.

A position is set as Spark itself would come to it: a batch that is planned and committed, and ends there. Nothing is
changed or deleted, so the old position can still be read in the files. A driver that runs all the same finds its next
batch taken and fails; that is why offsets/N is written before commits/N.
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from pipeline.driver.identity import FILE, Identity, content_names
from pipeline.errors import RefusedError
from pipeline.ops.files import CheckpointFiles
from pipeline.ops.moment import milliseconds, show, show_ms
from pipeline.ops.spark_checkpoint import METADATA, Offsets, SparkCheckpoint, offsets_file, read_checkpoint
from pipeline.state.initial_state import DIRECTORY

RECENT = timedelta(minutes=1)
_COMMIT = b'v1\n{"nextBatchWatermarkMs":0}'
# Version N + 1 of a store is what batch N leaves.
_STATE_VERSION = re.compile(r"/(\d+)(?:_[^/]*)?\.(?:changelog|zip|delta|snapshot)$")


@dataclass(frozen=True, slots=True)
class Fork:
    """A new checkpoint, and how many files it was made of."""

    query_id: str
    files: int


def require_stopped(place: str, last_written: datetime, now: datetime) -> None:
    """Raises RefusedError when something was written to the checkpoint within the last minute.

    A job that has had nothing to do for longer is not noticed; it fails at its next batch.
    """
    age = now - last_written
    if age < RECENT:
        raise RefusedError(
            f"checkpoint {place} was written {max(0, round(age.total_seconds()))} s ago, "
            f"at {show(last_written)}: does the job run?",
            hint=f"stop it; if it has stopped, wait for {RECENT.total_seconds():g} s to be over, or say --stopped",
        )


def fork(source: CheckpointFiles, target: CheckpointFiles, new_id: uuid.UUID) -> Fork:
    """Copy a checkpoint, up to the batch that is planned now, to a place that holds nothing. Raises RefusedError.

    The position is written last, so no job begins with a copy that broke off.
    """
    checkpoint = read_checkpoint(source)
    require_beside(target, source)
    # A driver that runs meanwhile plans more; a copy of that without its commits would be none.
    last_batch = checkpoint.last.number if checkpoint.last else -1
    commits = [number for number in checkpoint.commits if number <= last_batch]
    names = [name for name in source.names("state") if not _is_of_later_batch(name, max(commits, default=-1))]
    if not commits:
        names += source.names(DIRECTORY)
    names += [f"commits/{number}" for number in commits]
    names += [*source.names("sources")] if checkpoint.start is not None else []
    names += [f"offsets/{number}" for number in checkpoint.batches]
    target.write(METADATA, _metadata(new_id))
    if {"state", DIRECTORY} & source.entries() and FILE in source.entries():
        # A job that goes on from the copy has to know what the state is; output and ledger are not the copy's.
        mark = Identity.read(source.read(FILE), source.place).model_copy(update={"sink": None, "ledger": None})
        target.write(FILE, mark.model_dump_json().encode())
    for name in names:
        target.write(name, source.read(name))
    return Fork(str(new_id), len(names) + 1)


def _is_of_later_batch(name: str, last_commit: int) -> bool:
    """Whether it is a version of the state that no batch up to `last_commit` has left. The copy makes its own of that
    number, and Spark would load this one where it is a snapshot.
    """
    version = _STATE_VERSION.search(name)
    return version is not None and int(version[1]) > last_commit + 1


def require_stateless(files: CheckpointFiles, made_by: Identity | None) -> None:
    """Raises RefusedError where a job keeps a state: that is of each batch, and there is none for a position that no
    batch has come to.
    """
    if "state" in files.entries() or (made_by is not None and made_by.state is not None):
        raise RefusedError(
            f"checkpoint {files.place} has a state, which belongs to its own batches: at another position Spark would "
            "not find it",
            hint="give the job another checkpoint and begin with `run --new timestamp=…`; its state begins empty: for "
            "rdf-decide use `bootstrap`",
        )


def set_in_place(files: CheckpointFiles, checkpoint: SparkCheckpoint, ends: Mapping[str, Offsets]) -> int:
    """The number of the batch that now ends at `ends`, by topic. Raises RefusedError when a driver was faster."""
    facts = require_planned(checkpoint)
    number = max(*checkpoint.batches, *checkpoint.commits, 0) + 1
    files.write(f"offsets/{number}", offsets_file(facts, ends))
    files.write(f"commits/{number}", _COMMIT)
    return number


def set_beside(
    target: CheckpointFiles, checkpoint: SparkCheckpoint, ends: Mapping[str, Offsets], new_id: uuid.UUID
) -> None:
    """A new checkpoint, with an id of its own, from which a job continues at `ends`, by topic. Raises RefusedError."""
    facts = require_planned(checkpoint)
    require_empty(target)
    target.write(METADATA, _metadata(new_id))
    target.write("offsets/0", offsets_file(facts, ends))
    target.write("commits/0", _COMMIT)


def require_planned(checkpoint: SparkCheckpoint) -> str:
    """Spark's settings at the last batch, which the next ones keep. Raises RefusedError where none was planned."""
    if checkpoint.last is None:
        raise RefusedError(
            f"checkpoint {checkpoint.place} has no batch yet",
            hint="give the job another checkpoint and begin with `run --new timestamp=…`",
        )
    return checkpoint.last.facts


def require_beside(target: CheckpointFiles, source: CheckpointFiles) -> None:
    """Raises RefusedError for a place that holds something, or that lies within the other: a checkpoint with a strange
    directory in it is none any more.
    """
    if target.parts[: len(source.parts)] == source.parts and len(target.parts) > len(source.parts):
        raise RefusedError(
            f"{target.place} is inside checkpoint {source.place}: no job would begin there again",
            hint="name a place outside of it that holds nothing",
        )
    require_empty(target)


def require_empty(target: CheckpointFiles) -> None:
    """Raises RefusedError."""
    names = content_names(target.entries())
    if names:
        raise RefusedError(
            f"{target.place} is not empty: it holds {', '.join(names[:3])}{' and more' if len(names) > 3 else ''}",
            hint="name a place that holds nothing",
        )


def lost_before(offsets: Offsets, first: Offsets, oldest_ms: Mapping[int, int], at: datetime) -> list[str]:
    """A line for each partition of which retention may have deleted events from `at` on.

    `oldest_ms` is the time of the oldest record of partitions that no longer begin at 0.
    """
    return [
        f"partition {partition} begins at offset {first[partition]}, {show_ms(oldest_ms[partition])}"
        for partition, offset in sorted(offsets.items())
        if offset == first[partition] and partition in oldest_ms and oldest_ms[partition] > milliseconds(at)
    ]


def _metadata(new_id: uuid.UUID) -> bytes:
    return orjson.dumps({"id": str(new_id)})
