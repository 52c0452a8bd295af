"""The job's checkpoint as the job itself sees it: through Hadoop's file system, wherever it is.

    look              once, before the query begins: what lies there, whose it is, and which position it fixes
    replayed_from     once, behind the epoch's markers: until then another driver may plan a batch
    watermark_ms      once, by a job that has one
    committed_offsets while nothing has been committed in this process

On an object store every question is a request, so `look` asks only for what the top directory says is there.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline.driver.identity import FILE
from pipeline.errors import RefusedError
from pipeline.records.record import SourcePartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BEGIN = "sources/0/0"
"""Where the job began, until its first batch is committed."""


@dataclass(frozen=True, slots=True)
class Found:
    """What lies in a checkpoint. `names` are those at its top, and `identity` is the text of the job's own file.

    `last` is the file, by name and text, that says where the last planned batch ends, or where the job began; None
    when the checkpoint fixes no position.
    """

    place: str
    names: tuple[str, ...] = ()
    identity: str | None = None
    last: tuple[str, str] | None = None

    @property
    def has_position(self) -> bool:
        """Whether it fixes where the job goes on: by a planned batch, or by where the job began."""
        return self.last is not None

    def topics(self) -> list[str]:
        """Those of the position, none where there is no position. Raises RefusedError for other files than Spark's."""
        if self.last is None:
            return []
        name, text = self.last
        try:
            found = _offsets(text)
        except (ValueError, IndexError):
            found = {"": {}}
        if not (isinstance(found, dict) and all(isinstance(of, dict) and of for of in found.values())):
            raise RefusedError(
                f"checkpoint {self.place}: {name} has no offsets of Kafka: another program has made it",
                hint="name this job's own checkpoint",
            )
        return sorted(found)


def look(spark: "SparkSession", checkpoint: str) -> Found:
    """What lies there now."""
    names = _names(spark, checkpoint, "")
    planned = _newest(spark, checkpoint, "offsets") if "offsets" in names else -1
    last = f"offsets/{planned}" if planned >= 0 else BEGIN
    text = read_text(spark, checkpoint, last) if planned >= 0 or "sources" in names else None
    return Found(
        checkpoint,
        tuple(names),
        identity=read_text(spark, checkpoint, FILE) if FILE in names else None,
        last=None if text is None else (last, text),
    )


def replayed_from(
    spark: "SparkSession", checkpoint: str, *, leaves_later: bool = False
) -> dict[SourcePartition, int] | None:
    """Where the batch begins that is planned and not committed, so that Spark will run it again; None without one.

    A partition that it does not name is read from its beginning. Of a job whose events leave in later batches than
    they are read in, as `leaves_later` says, none is named: whatever was read may be emitted only by that batch.
    """
    if _newest(spark, checkpoint, "offsets") <= _newest(spark, checkpoint, "commits"):
        return None
    if leaves_later:
        return {}
    return committed_offsets(spark, checkpoint) or {}


def committed_offsets(spark: "SparkSession", checkpoint: str) -> dict[SourcePartition, int] | None:
    """The next offset of each partition by the last committed batch, or where the job began; None before it has."""
    batch = _newest(spark, checkpoint, "commits")
    text = read_text(spark, checkpoint, f"offsets/{batch}" if batch >= 0 else BEGIN)
    if text is None:
        return None
    return {
        SourcePartition(topic, int(number)): int(offset)
        for topic, offsets in _offsets(text).items()
        for number, offset in offsets.items()
    }


def watermark_ms(spark: "SparkSession", checkpoint: str) -> int | None:
    """The watermark with which Spark runs the next batch, or the planned one again, in milliseconds since the epoch;
    None where nothing has moved it yet.
    """
    planned, committed = _newest(spark, checkpoint, "offsets"), _newest(spark, checkpoint, "commits")
    name, field = f"commits/{committed}", "nextBatchWatermarkMs"
    if planned > committed:
        name, field = f"offsets/{planned}", "batchWatermarkMs"
    text = read_text(spark, checkpoint, name) if max(planned, committed) >= 0 else None
    if text is None:
        return None
    try:
        found = int(json.loads(text.splitlines()[1])[field])
    except (ValueError, IndexError, KeyError, TypeError):
        return None  # what is no file of Spark's, Spark refuses
    return found or None


def last_commit(spark: "SparkSession", checkpoint: str) -> int | None:
    """The number of the last committed batch, None before there is one."""
    batch = _newest(spark, checkpoint, "commits")
    return batch if batch >= 0 else None


def size_of(spark: "SparkSession", checkpoint: str, directory: str) -> int:
    """Bytes of all files below a directory of the checkpoint."""
    files, path = _file_system(spark, checkpoint)
    return int(files.getContentSummary(path(directory)).getLength())


def write_text(spark: "SparkSession", checkpoint: str, name: str, text: str) -> None:
    """Write a small file of the checkpoint, over one that is there."""
    files, path = _file_system(spark, checkpoint)
    stream = files.create(path(name), True)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def read_text(spark: "SparkSession", checkpoint: str, name: str) -> str | None:
    """A small file of the checkpoint, None when it is not there."""
    files, path = _file_system(spark, checkpoint)
    if not files.exists(path(name)):
        return None
    stream = files.open(path(name))
    try:
        jvm: Any = spark._jvm  # noqa: SLF001
        return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
    finally:
        stream.close()


def _offsets(text: str) -> dict[str, dict[str, int]]:
    """Of all sources of a file: an offset file has a line of settings before them, the other kind has one source.

    Raises ValueError for a file of another form.
    """
    lines = text.strip().splitlines()
    # A dash is a source of a union of which nothing is planned yet.
    found = [json.loads(line) for line in lines[2:] or lines[-1:] if line != "-"]
    if not lines or not all(isinstance(one, dict) for one in found):
        raise ValueError("there are no offsets in it")
    return {topic: offsets for one in found for topic, offsets in one.items()}


def _newest(spark: "SparkSession", checkpoint: str, log: str) -> int:
    """The number of the newest batch in a log of Spark's, -1 when there is none."""
    return max((int(name) for name in _names(spark, checkpoint, log) if name.isdecimal()), default=-1)


def _names(spark: "SparkSession", checkpoint: str, directory: str) -> list[str]:
    """What lies in a directory, nothing where there is none."""
    files, path = _file_system(spark, checkpoint)
    if not files.exists(path(directory)):
        return []
    return [str(status.getPath().getName()) for status in files.listStatus(path(directory))]


def _file_system(spark: "SparkSession", checkpoint: str) -> tuple[Any, Callable[[str], Any]]:
    jvm: Any = spark._jvm  # noqa: SLF001 — Hadoop's file systems have no public face in PySpark
    context: Any = spark._jsc  # noqa: SLF001
    root = checkpoint.rstrip("/")
    files = jvm.org.apache.hadoop.fs.Path(root).getFileSystem(context.hadoopConfiguration())
    return files, lambda part: jvm.org.apache.hadoop.fs.Path(f"{root}/{part}" if part else root)
