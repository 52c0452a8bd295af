"""The job's checkpoint as the job itself sees it: through Hadoop's file system, wherever it is.

    read_content      once, before the query begins: what lies there, whose it is, and which position it fixes
    replayed_from     once, behind the epoch's markers: until then another driver may plan a batch
    watermark_ms      once, by a job that has one
    committed_offsets while nothing has been committed in this process

Spark's own files are read as the operators' commands read them (`pipeline.ops.spark_checkpoint`). On an object store
every question is a request, so `read_content` asks only for what the top directory says is there.
"""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from pipeline.deferral.fold import TWO_PROCESSES, FencedError
from pipeline.driver.identity import FILE
from pipeline.errors import PipelineError
from pipeline.ops.spark_checkpoint import SparkCheckpoint, inspect_checkpoint, numbers, read_ends
from pipeline.records.record import SourcePartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BEGINS = "sources"
"""Where each stream of the job began, until its first batch is committed: the first in `0/0`, the next in `1/0`."""
BEGIN = f"{BEGINS}/0/0"


@dataclass(frozen=True, slots=True)
class CheckpointContent:
    """The content of a checkpoint. `identity` is the text of the job's own file, None without one."""

    spark: SparkCheckpoint
    identity: str | None = None


class HadoopFiles:
    """The files of a checkpoint, as `pipeline.ops.files` has those of a place that Python reaches by itself."""

    def __init__(self, spark: "SparkSession", place: str) -> None:
        self.place = place
        self._spark = spark

    def entries(self) -> set[str]:
        """The names at its top, directories included; none where there is no checkpoint."""
        files, path = _file_system(self._spark, self.place)
        if not files.exists(path("")):
            return set()
        return {str(status.getPath().getName()) for status in files.listStatus(path(""))}

    def names(self, directory: str = "") -> list[str]:
        """All files below a directory; none when it is not there."""
        files, path = _file_system(self._spark, self.place)
        if not files.exists(path(directory)):
            return []
        jvm: Any = self._spark._jvm  # noqa: SLF001
        statuses = jvm.org.apache.hadoop.util.functional.RemoteIterators.toList(files.listFiles(path(directory), True))
        top = f"/{directory}/"
        return [f"{directory}/{str(status.getPath()).rpartition(top)[2]}" for status in statuses]

    def read(self, name: str) -> bytes:
        """Raises PipelineError when it is not there."""
        text = read_text(self._spark, self.place, name)
        if text is None:
            raise PipelineError(f"checkpoint {self.place}: {name} cannot be read: No such file or directory")
        return text.encode()


def read_content(spark: "SparkSession", checkpoint: str) -> CheckpointContent:
    """The present content. Raises RefusedError for a file of Spark's in another form."""
    content = inspect_checkpoint(HadoopFiles(spark, checkpoint))
    return CheckpointContent(content, read_text(spark, checkpoint, FILE) if FILE in content.entries else None)


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
    files = HadoopFiles(spark, checkpoint)
    if batch < 0 and not files.names("sources"):
        return None
    ends = read_ends(files, f"offsets/{batch}" if batch >= 0 else BEGIN)
    return {
        SourcePartition(topic, number): offset
        for topic, partitions in ends.items()
        for number, offset in partitions.items()
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
        watermark = int(json.loads(text.splitlines()[1])[field])
    except (ValueError, IndexError, KeyError, TypeError):
        return None  # what is no file of Spark's, Spark refuses
    return watermark or None


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


def _newest(spark: "SparkSession", checkpoint: str, log: str) -> int:
    """The number of the newest batch in a log of Spark's, -1 when there is none."""
    return max(numbers(HadoopFiles(spark, checkpoint), log), default=-1)


def _file_system(spark: "SparkSession", checkpoint: str) -> tuple[Any, Callable[[str], Any]]:
    jvm: Any = spark._jvm  # noqa: SLF001 — Hadoop's file systems have no public face in PySpark
    context: Any = spark._jsc  # noqa: SLF001
    root = checkpoint.rstrip("/")
    files = jvm.org.apache.hadoop.fs.Path(root).getFileSystem(context.hadoopConfiguration())
    return files, lambda part: jvm.org.apache.hadoop.fs.Path(f"{root}/{part}" if part else root)


# Hidden, so that no version takes it for a file of something else.
OWNER_FILE = ".owner"


class Ownership:
    """Which start of the job has the checkpoint: the latest, by a small file that each start writes over.

    The driver reads it before a batch emits anything, before Spark commits a batch of a job without a ledger (with one,
    the ledger's epoch says it), and every few seconds. So a process that was replaced ends by itself, with exit code 2,
    and does not come back to end the other.

    Between a check and the write behind it, a later start may take over. A batch that is emitted then comes again from
    the later start, with the same ids. Of Spark's logs the second to write an entry fails. On `s3a://` two that plan
    one batch in the same moment may both succeed: `docs/running.md`, two processes on one checkpoint. S3A's conditional
    create (`fs.option.create.conditional.overwrite`) is for the builder of `createFile`, which Spark's logs do not use.
    """

    def __init__(self, spark: "SparkSession", checkpoint: str) -> None:
        self._spark, self._checkpoint = spark, checkpoint
        self._token = uuid.uuid4().hex

    def take(self) -> None:
        """The checkpoint is this start's from now on."""
        write_text(self._spark, self._checkpoint, OWNER_FILE, self._token)

    def check(self) -> None:
        """Raises FencedError when a later start has taken it, and what Hadoop's file system raises."""
        token = read_text(self._spark, self._checkpoint, OWNER_FILE)
        # Where an operator has removed the file, no start has taken anything.
        if token is not None and token != self._token:
            raise FencedError(
                f"another start of this job has taken checkpoint {self._checkpoint} over",
                hint=TWO_PROCESSES,
            )

    def check_if_reachable(self) -> None:
        """As `check`, but a store or a JVM that does not answer is no failure."""
        try:
            self.check()
        except (Py4JError, OSError):
            return  # reported where an answer is needed
