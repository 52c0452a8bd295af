"""A checkpoint of Spark's as it lies there: which batches are planned, which are committed, and where each ends.

    metadata        the query's id
    sources/0/0     where the first batch began
    offsets/N       batch N is planned: a version, Spark's settings, then for each source the offsets at its end
    commits/N       batch N has ended

A job continues after the last planned batch when that one is committed; else it runs that batch again first. `damages`
says what keeps it from that, for `checkpoint verify` and for a job's start alike.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson
from pydantic import BaseModel, NonNegativeInt, TypeAdapter, ValidationError

from located_config.problem import in_line
from pipeline.config.start_position import CHOICES
from pipeline.errors import RefusedError
from pipeline.ops.files import CheckpointFiles, ReadableFiles
from pipeline.ops.moment import show
from pipeline.state.initial_state import InitialState

Offsets = Mapping[int, int]
METADATA = "metadata"
_ByTopic = dict[str, dict[NonNegativeInt, NonNegativeInt]]
_BY_TOPIC = TypeAdapter(_ByTopic)
_VERSION = "v1"
# The second is that of spark.sql.streaming.stateStore.checkpointFormatVersion 2.
_COMMIT_VERSIONS = ("v1", "v2")
_LOGS = ("offsets", "commits", "sources")
_BEGUN = re.compile(r"sources/\d+/0")
_NOTHING = "-"


class _Metadata(BaseModel):
    id: str


class _BatchFacts(BaseModel):
    batchTimestampMs: int  # noqa: N815 — Spark's own name for it


class _Commit(BaseModel):
    nextBatchWatermarkMs: int = 0  # noqa: N815 — likewise


class UnreadableFileError(RefusedError):
    """A file is not in the form in which Spark writes it; `what` says so without the checkpoint's place."""

    def __init__(self, files: ReadableFiles, name: str, why: str) -> None:
        self.what = f"{name} is not in the form of Spark's Kafka checkpoints: {why}"
        super().__init__(
            f"checkpoint {files.place}: {self.what}",
            hint="is it this job's? a file that a full disk cut off is gone: restore it from a copy, or begin again at "
            "another checkpoint, with `run --new`",
        )


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
    """`start` is where the first batch began, as far as that is still known. `planned` are the last two batches.
    `entries` is what lies at its top.
    """

    place: str
    entries: frozenset[str]
    query_id: str | None
    start: Mapping[str, Offsets] | None
    planned: tuple[Planned, ...]
    batches: tuple[int, ...]
    commits: tuple[int, ...]

    @property
    def has_position(self) -> bool:
        """Whether it fixes where the job goes on: by a planned batch, or by where the job began."""
        return self.last is not None or self.start is not None

    @property
    def is_committed(self) -> bool:
        """Whether no batch will be run again; true also where none was planned."""
        return self.last is None or self.last.number in self.commits

    @property
    def last(self) -> Planned | None:
        """The newest planned batch."""
        return self.planned[-1] if self.planned else None

    @property
    def topics(self) -> list[str]:
        """The topics of the position, sorted."""
        return sorted({*self.committed(), *(self.last.ends if self.last else ())})

    def committed(self) -> Mapping[str, Offsets]:
        """The job's position: every event below it is emitted, or deferred in the ledger."""
        if self.last is None:
            return self.start or {}
        if self.is_committed:
            return self.last.ends
        return self.planned[-2].ends if len(self.planned) > 1 else self.start or {}


def read_checkpoint(files: ReadableFiles) -> SparkCheckpoint:
    """Raises RefusedError when there is no position, or a file in another form than Spark 4's version 1."""
    return require_position(inspect_checkpoint(files))


def inspect_checkpoint(files: ReadableFiles) -> SparkCheckpoint:
    """What lies there, which may be nothing. Only the files that Spark reads at a start are read. Raises RefusedError
    for one of them in another form than Spark 4's version 1.
    """
    entries = frozenset(files.entries())
    # Commits first: a job that runs meanwhile can only be further than this says.
    commits = numbers(files, "commits") if "commits" in entries else ()
    batches = _planned_by(commits, numbers(files, "offsets"), files) if "offsets" in entries else ()
    query_id = None
    if METADATA in entries:
        try:
            query_id = _Metadata.model_validate_json(files.read(METADATA)).id
        except ValidationError as error:
            raise UnreadableFileError(files, METADATA, in_line(error, _Metadata)) from error
    planned = tuple(_planned(files, number) for number in batches[-2:])
    return SparkCheckpoint(files.place, entries, query_id, _start(files, entries), planned, batches, commits)


def _planned_by(commits: tuple[int, ...], batches: tuple[int, ...], files: ReadableFiles) -> tuple[int, ...]:
    """Without those that a running job has planned after its `commits` were listed: a gap that its next commits close
    is no damage.
    """
    newest = max(commits, default=-1)
    if not batches or batches[-1] <= newest + 1 or max(numbers(files, "commits"), default=-1) < batches[-1] - 1:
        return batches
    return tuple(number for number in batches if number <= newest + 1)


def require_position(checkpoint: SparkCheckpoint) -> SparkCheckpoint:
    """Raises RefusedError when it has none."""
    if checkpoint.has_position:
        return checkpoint
    raise RefusedError(
        f"checkpoint {checkpoint.place} holds no position",
        hint=f"look at `checkpoint` in the job's file; a job that never ran begins with `run --new` {CHOICES}",
    )


def damages(
    files: ReadableFiles, checkpoint: SparkCheckpoint, *, has_state: bool, bootstrap: InitialState | None = None
) -> list[str]:
    """Why no job could continue from it, whatever the brokers hold: each file that Spark would miss or could not read,
    with what there is to do. `has_state`: the job that has made it keeps one, which begins with its `bootstrap`.
    """
    reasons = [*_missing(checkpoint), *_backwards(checkpoint)]
    if bootstrap and not checkpoint.commits:
        reasons += bootstrap.damages(files)
    if has_state and checkpoint.commits and "state" not in checkpoint.entries:
        reasons.append(f"state/ is missing, which batch {checkpoint.commits[-1]} has written; restore it")
    if checkpoint.commits:
        try:
            _require_commit(files, f"commits/{checkpoint.commits[-1]}")
        except UnreadableFileError as error:
            reasons.append(f"{error.what}; restore it, or begin again with set-offsets")
    return reasons


def require_whole(
    files: ReadableFiles, checkpoint: SparkCheckpoint, *, has_state: bool, bootstrap: InitialState | None = None
) -> None:
    """Raises RefusedError that names each damage."""
    reasons = damages(files, checkpoint, has_state=has_state, bootstrap=bootstrap)
    if reasons:
        raise RefusedError(
            f"checkpoint {checkpoint.place} is damaged: " + "\n".join(reasons),
            hint="restore the files from a copy; `checkpoint verify` looks at them again",
        )


def _require_commit(files: ReadableFiles, name: str) -> None:
    try:
        _Commit.model_validate_json(_lines(files, name, _COMMIT_VERSIONS)[1])
    except ValidationError as error:
        raise UnreadableFileError(files, name, in_line(error, _Commit)) from error


def _missing(checkpoint: SparkCheckpoint) -> Iterator[str]:
    last = checkpoint.last
    newest = max(checkpoint.commits, default=-1)
    if last is None:
        if newest >= 0:
            yield f"batch {newest} is committed and none is planned: offsets/ was deleted; restore it"
        return
    if checkpoint.query_id is None:
        yield "the file metadata is missing, so Spark would begin a query of another id: restore it, or use a fork"
    if newest > last.number:
        yield f"batch {newest} is committed and not planned: files of offsets/ were deleted; restore them"
    elif newest < last.number - 1:
        yield (
            f"batch {last.number} is planned and the last commit is of {newest}: files of commits/ were deleted; "
            "restore them, or begin again with set-offsets"
        )
    if last.number and last.number - 1 not in checkpoint.batches:
        yield f"offsets/{last.number - 1} is missing, which Spark reads when it starts; restore it"


def _backwards(checkpoint: SparkCheckpoint) -> Iterator[str]:
    if len(checkpoint.planned) < 2 or checkpoint.is_committed:
        return  # set-offsets goes back like this, and a batch that is committed is not run again
    before, last = checkpoint.planned
    for topic, ends in last.ends.items():
        for partition, end in ends.items():
            begin = before.ends.get(topic, {}).get(partition, 0)
            if end < begin:
                yield f"batch {last.number} ends at {topic}/{partition}/{end}, below its begin at {begin}"


def last_written(files: CheckpointFiles) -> datetime:
    """When a file of Spark's was written last, in a checkpoint that has a position."""
    return max(max(files.names(log).values(), default=datetime.min.replace(tzinfo=UTC)) for log in _LOGS)


def lines(checkpoint: SparkCheckpoint, written: datetime) -> Iterator[str]:
    """What `checkpoint show` prints."""
    yield f"checkpoint  {checkpoint.place}"
    missing = "none yet" if checkpoint.last is None else "none: the file metadata is missing"
    yield f"query id    {checkpoint.query_id or missing}"
    yield f"written     {show(written)}"
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


def numbers(files: ReadableFiles, log: str) -> tuple[int, ...]:
    """The numbers of the batches in one of Spark's logs, sorted; none where the log is missing."""
    names = (name.removeprefix(f"{log}/") for name in files.names(log))
    return tuple(sorted(int(name) for name in names if name.isdecimal()))


def read_ends(files: ReadableFiles, name: str) -> Mapping[str, Offsets]:
    """The offsets in a file of `offsets` or `sources`, by topic. Raises UnreadableFileError."""
    if name.startswith("offsets/"):
        return _planned(files, int(name.removeprefix("offsets/"))).ends
    # Spark puts a byte 0 in front, for readers of an older version.
    return _offsets(files, name, _lines(files, name)[-1])


def _start(files: ReadableFiles, entries: Collection[str]) -> dict[str, Offsets] | None:
    names = files.names("sources") if "sources" in entries else ()
    start_files = sorted(name for name in names if _BEGUN.fullmatch(name))
    if "sources/0/0" not in start_files:
        return None
    return {topic: ends for name in start_files for topic, ends in read_ends(files, name).items()}


def _planned(files: ReadableFiles, number: int) -> Planned:
    name = f"offsets/{number}"
    _, facts, *by_source = _lines(files, name)
    if not by_source:
        raise UnreadableFileError(files, name, "it has no source")
    try:
        began_at = datetime.fromtimestamp(_BatchFacts.model_validate_json(facts).batchTimestampMs / 1000, UTC)
    except ValidationError as error:
        raise UnreadableFileError(files, name, in_line(error, _BatchFacts)) from error
    except (OverflowError, ValueError) as error:
        raise UnreadableFileError(files, name, str(error)) from error
    # A job that unites streams has a line for each; one of which nothing is planned yet has a dash.
    ends: dict[str, Offsets] = {}
    for line in by_source:
        ends |= {} if line == _NOTHING else _offsets(files, name, line)
    return Planned(number, ends, began_at, facts)


def _offsets(files: ReadableFiles, name: str, line: str) -> Mapping[str, Offsets]:
    try:
        return _BY_TOPIC.validate_json(line)
    except ValidationError as error:
        raise UnreadableFileError(files, name, in_line(error, _ByTopic)) from error


def _lines(files: ReadableFiles, name: str, versions: Collection[str] = (_VERSION,)) -> list[str]:
    lines_ = files.read(name).decode(errors="replace").lstrip("\0").strip().split("\n")
    if lines_[0] not in versions:
        raise UnreadableFileError(files, name, f"it begins with {lines_[0][:40]!r}, not with {_VERSION}")
    if len(lines_) < 2:
        raise UnreadableFileError(files, name, "it breaks off after its first line")
    return lines_


def offsets_file(facts: str, ends: Mapping[str, Offsets]) -> bytes:
    """A file of the offset log, as Spark writes it."""
    by_topic = {
        topic: {str(partition): offset for partition, offset in partitions.items()}
        for topic, partitions in ends.items()
    }
    return f"{_VERSION}\n{facts}\n".encode() + orjson.dumps(by_topic)
