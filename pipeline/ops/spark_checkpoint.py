"""A checkpoint of Spark's as it lies there: which batches are planned, which are committed, and where each ends.

    metadata        the query's id
    sources/0/0     where the first batch began
    offsets/N       batch N is planned: a version, Spark's settings, then for each source the offsets at its end
    commits/N       batch N has ended

A job continues after the last planned batch when that one is committed; else it runs that batch again first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson
from pydantic import BaseModel, NonNegativeInt, TypeAdapter, ValidationError

from located_config.problem import in_line
from pipeline.driver.start import CHOICES
from pipeline.errors import RefusedError
from pipeline.ops.files import CheckpointFiles
from pipeline.ops.moment import show

Offsets = Mapping[int, int]
METADATA = "metadata"
_ByTopic = dict[str, dict[NonNegativeInt, NonNegativeInt]]
_BY_TOPIC = TypeAdapter(_ByTopic)
_VERSION = "v1"
_NOTHING = "-"


class _Metadata(BaseModel):
    id: str


class _BatchFacts(BaseModel):
    batchTimestampMs: int  # noqa: N815 — Spark's own name for it


class _Commit(BaseModel):
    nextBatchWatermarkMs: int = 0  # noqa: N815 — likewise


@dataclass(frozen=True, slots=True)
class Planned:
    """A batch of the offset log: where it ends in each topic, and when it was planned."""

    number: int
    ends: Mapping[str, Offsets]
    at: datetime
    # Spark's settings when it was planned, in its own words.
    facts: str


@dataclass(frozen=True, slots=True)
class SparkCheckpoint:
    """`start` is where the first batch began, as far as that is still known. `planned` are the last two batches."""

    place: str
    query_id: str | None
    start: Mapping[str, Offsets] | None
    planned: tuple[Planned, ...]
    batches: tuple[int, ...]
    commits: tuple[int, ...]
    written: datetime

    @property
    def is_committed(self) -> bool:
        """Whether no batch will be run again; true also where none was planned."""
        return self.last is None or self.last.number in self.commits

    @property
    def last(self) -> Planned | None:
        """The newest planned batch."""
        return self.planned[-1] if self.planned else None

    def committed(self) -> Mapping[str, Offsets]:
        """Where the job is: every event below is emitted, or deferred in the ledger."""
        if self.last is None:
            return self.start or {}
        if self.is_committed:
            return self.last.ends
        return self.planned[-2].ends if len(self.planned) > 1 else self.start or {}


def read_checkpoint(files: CheckpointFiles) -> SparkCheckpoint:
    """Raises RefusedError when there is no checkpoint, or one in another form than Spark 4's version 1."""
    # Commits first: a job that runs meanwhile can only be further than this says.
    commits = _numbers(files, "commits")
    offsets = _numbers(files, "offsets")
    others = files.names("sources")
    if not offsets and "sources/0/0" not in others:
        raise RefusedError(
            f"checkpoint {files.place} holds no position",
            hint=f"look at `checkpoint` in the job's file; a job that never ran begins with `run --new` {CHOICES}",
        )
    start: dict[str, Offsets] | None = None
    if "sources/0/0" in others:
        start = {}
        for name in sorted(others):
            # Of each source; Spark puts a byte 0 in front, for readers of an older version.
            start |= _offsets(files, name, _lines(files, name)[-1])
    planned = tuple(_planned(files, number) for number in sorted(offsets)[-2:])
    query_id = None
    if METADATA in files.names():
        try:
            query_id = _Metadata.model_validate_json(files.read(METADATA)).id
        except ValidationError as error:
            raise _unreadable(files, METADATA, in_line(error, _Metadata)) from error
    written = max([*offsets.values(), *commits.values(), *others.values()])
    return SparkCheckpoint(
        files.place, query_id, start, planned, tuple(sorted(offsets)), tuple(sorted(commits)), written
    )


def require_last_commit(files: CheckpointFiles, checkpoint: SparkCheckpoint) -> None:
    """Raises RefusedError when the last commit is not whole, which Spark reads when it starts."""
    if checkpoint.commits:
        name = f"commits/{checkpoint.commits[-1]}"
        try:
            _Commit.model_validate_json(_lines(files, name)[1])
        except ValidationError as error:
            raise _unreadable(files, name, in_line(error, _Commit)) from error


def lines(checkpoint: SparkCheckpoint) -> Iterator[str]:
    """What `checkpoint show` prints."""
    yield f"checkpoint  {checkpoint.place}"
    yield f"query id    {checkpoint.query_id or 'none: the file metadata is missing'}"
    yield f"written     {show(checkpoint.written)}"
    if checkpoint.last is None:
        yield "batches     none is planned"
    else:
        first, last = checkpoint.batches[0], checkpoint.last
        state = "committed" if checkpoint.is_committed else "planned and not committed: it will be run again"
        yield f"batches     {first} to {last.number}; {last.number} is {state} ({show(last.at)})"
    committed = checkpoint.committed()
    ahead = checkpoint.last.ends if checkpoint.last and not checkpoint.is_committed else {}
    row = "{:<40} {:>9} {:>14} {:>14}".format
    yield row("topic", "partition", "committed", "planned to")
    for topic in sorted({*committed, *ahead}):
        for partition in sorted({*committed.get(topic, {}), *ahead.get(topic, {})}):
            offset = committed.get(topic, {}).get(partition, "-")
            yield row(topic, partition, offset, ahead.get(topic, {}).get(partition, "-"))


def _numbers(files: CheckpointFiles, log: str) -> dict[int, datetime]:
    found = {name.removeprefix(f"{log}/"): written for name, written in files.names(log).items()}
    return {int(name): written for name, written in found.items() if name.isdecimal()}


def _planned(files: CheckpointFiles, number: int) -> Planned:
    name = f"offsets/{number}"
    _, facts, *by_source = _lines(files, name)
    if not by_source:
        raise _unreadable(files, name, "it has no source")
    try:
        at = datetime.fromtimestamp(_BatchFacts.model_validate_json(facts).batchTimestampMs / 1000, UTC)
    except ValidationError as error:
        raise _unreadable(files, name, in_line(error, _BatchFacts)) from error
    except (OverflowError, ValueError) as error:
        raise _unreadable(files, name, str(error)) from error
    # A job that unites streams has a line for each; one of which nothing is planned yet has a dash.
    ends: dict[str, Offsets] = {}
    for line in by_source:
        ends |= {} if line == _NOTHING else _offsets(files, name, line)
    return Planned(number, ends, at, facts)


def _offsets(files: CheckpointFiles, name: str, line: str) -> Mapping[str, Offsets]:
    try:
        return _BY_TOPIC.validate_json(line)
    except ValidationError as error:
        raise _unreadable(files, name, in_line(error, _ByTopic)) from error


def _lines(files: CheckpointFiles, name: str) -> list[str]:
    lines_ = files.read(name).decode(errors="replace").lstrip("\0").strip().split("\n")
    if lines_[0] != _VERSION:
        raise _unreadable(files, name, f"it begins with {lines_[0][:40]!r}, not with {_VERSION}")
    if len(lines_) < 2:
        raise _unreadable(files, name, "it breaks off after its first line")
    return lines_


def _unreadable(files: CheckpointFiles, name: str, why: str) -> RefusedError:
    return RefusedError(
        f"checkpoint {files.place}: {name} is not in the form of Spark's Kafka checkpoints: {why}",
        hint="is it this job's? a file that a full disk cut off is gone: restore it from a copy, or begin again at "
        "another checkpoint, with `run --new`",
    )


def offsets_file(facts: str, ends: Mapping[str, Offsets]) -> bytes:
    """A file of the offset log, as Spark writes it."""
    by_topic = {topic: {str(partition): offset for partition, offset in of.items()} for topic, of in ends.items()}
    return f"{_VERSION}\n{facts}\n".encode() + orjson.dumps(by_topic)
