"""What ended the query, as the job itself says, or Spark, or a JVM that is gone."""

from typing import Protocol

from py4j.protocol import Py4JNetworkError

from pipeline.errors import PipelineError, failure


class Writes(Protocol):
    """The batches' writer."""

    def check(self) -> None:
        """Raises PipelineError for a cause of the job's own."""

    def look_for_others(self) -> None:
        """Raises FencedError when a later start has taken the checkpoint."""


class Dump(Protocol):
    """What an OutOfMemoryError leaves."""

    @property
    def is_there(self) -> bool:
        """Whether the JVM has run out of memory since the start."""


def ended_by(writer: Writes, dump: Dump, found: Exception | str) -> PipelineError:
    """`found` is what Spark says of the query, or what asking it raised. Raises PipelineError for a cause of the job's
    own.
    """
    # With a full heap Spark ends its JVM at once. What was to ask it then failed too, and says less.
    is_gone = isinstance(found, Py4JNetworkError | OSError)
    if is_gone and dump.is_there:
        return failure("query", "java.lang.OutOfMemoryError: the JVM of Spark has ended, and left a heap dump")
    writer.check()
    writer.look_for_others()
    if is_gone:
        found = f"the JVM of Spark does not answer ({type(found).__name__}); its last words are in Spark's log, above"
    return failure("query", str(found))
