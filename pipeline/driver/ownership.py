"""Which start of the job has the checkpoint: the latest, by a small file there that each start writes over.

A driver reads it before a batch emits anything, before Spark commits a batch of a job without a ledger (with one, the
ledger's epoch says it), and now and then while nothing happens. So one that was replaced ends by itself, with exit code
2, and does not come back to end the other.

What remains is the time between a look and the write behind it. A batch that is emitted then comes again from the
later start, with the same ids. Of Spark's logs the second to write an entry fails, as it finds it there; its job looks
here once more before it says why it ends. On `s3a://` that is a look and a copy, so two that plan one batch in the same
moment may both succeed; `docs/running.md` says what that may lose (two processes on one checkpoint). S3A's conditional
create (`fs.option.create.conditional.overwrite`) is for the builder of `createFile`, which Spark's logs do not use.
"""

import uuid
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError

from pipeline.deferral.fold import TWO_PROCESSES, FencedError
from pipeline.driver.job_checkpoint import read_text, write_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Hidden, so that no version takes it for a file of something else.
FILE = ".owner"


class Ownership:
    """Of one start of the job."""

    def __init__(self, spark: "SparkSession", checkpoint: str) -> None:
        self._spark, self._checkpoint = spark, checkpoint
        self._token = uuid.uuid4().hex

    def take(self) -> None:
        """The checkpoint is this start's from now on."""
        write_text(self._spark, self._checkpoint, FILE, self._token)

    def check(self) -> None:
        """Raises FencedError when a later start has taken it, and what Hadoop's file system raises."""
        found = read_text(self._spark, self._checkpoint, FILE)
        # Where an operator has removed the file, no start has taken anything.
        if found is not None and found != self._token:
            raise FencedError(
                f"another start of this job has taken checkpoint {self._checkpoint} over",
                hint=TWO_PROCESSES,
            )

    def look(self) -> None:
        """As `check`, where nothing depends on an answer."""
        try:
            self.check()
        except (Py4JError, OSError):
            return  # a store that is down, or a JVM that is gone, is noticed and said where it is needed
