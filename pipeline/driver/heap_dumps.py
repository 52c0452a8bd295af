"""Has the driver's JVM write its heap to a file when it runs out of memory, and tells of it at the end of the job.

The two settings of HotSpot can be changed while it runs, so it makes no difference who has started the JVM, and no
option of the user's is replaced. It writes at its first OutOfMemoryError and never again.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline import log
from pipeline.config.heap_dump_section import HeapDumps
from pipeline.driver.session import jvm_pid
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import HeapDumped, HeapDumpsOff
from pipeline.jvm.heap_dump import read_dump

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BEAN = "com.sun.management.HotSpotDiagnosticMXBean"
_SHOWN = 5
# Reading it delays the end of the process, by some five seconds for this many bytes.
_MOST_READ = 1 << 30


@dataclass(frozen=True, slots=True)
class AwaitedDump:
    """`file` is where the JVM would write; None where it writes none."""

    file: Path | None

    @property
    def is_there(self) -> bool:
        """Whether the JVM has run out of memory since the start."""
        return self.file is not None and self.file.exists()

    def tell(self) -> None:
        """Log the dump if there is one, with its largest classes unless it is too large to be read at once."""
        if self.file is None or not self.is_there:
            return
        size = self.file.stat().st_size
        classes: dict[str, int] = {}
        if size <= _MOST_READ:
            try:
                classes = {total.name: total.size for total in read_dump(self.file)[:_SHOWN]}
            except PipelineError as error:
                log.tell(error.render())
        log.say(HeapDumped(file=str(self.file), bytes=size, classes=classes))


def await_dump(spark: "SparkSession", settings: HeapDumps, job: str) -> AwaitedDump:
    """From now on. Raises RefusedError when the directory cannot be made."""
    if settings.directory is None:
        return AwaitedDump(None)
    directory = Path(settings.directory).absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedError(
            f"heap_dump.directory: {directory} cannot be made: {error.strerror or error}", hint="name another directory"
        ) from error
    there = len(list(directory.glob("*.hprof")))
    if there >= settings.keep:
        log.say(HeapDumpsOff(directory=str(directory), dumps=there, keep=settings.keep))
        return AwaitedDump(None)
    # In a container every start has the same number, and a file that is there is not written again.
    file = directory / f"{job}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{jvm_pid(spark)}.hprof"
    jvm: Any = spark._jvm  # noqa: SLF001
    bean = jvm.java.lang.management.ManagementFactory.getPlatformMXBean(jvm.java.lang.Class.forName(_BEAN))
    bean.setVMOption("HeapDumpPath", str(file))
    bean.setVMOption("HeapDumpOnOutOfMemoryError", "true")
    return AwaitedDump(file)
