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


class Jvm(Protocol):
    """The driver's."""

    def is_out_of_memory(self) -> bool:
        """Whether that has ended it."""


def ended_by(writer: Writes, jvm: Jvm, found: Exception | str) -> PipelineError:
    """`found` is what Spark says of the query, or what asking it raised. Raises PipelineError for a cause of the job's
    own.
    """
    # What was to ask it failed too, and says less.
    if jvm.is_out_of_memory():
        return failure("query", "java.lang.OutOfMemoryError: the JVM of Spark ran out of memory and has ended")
    writer.check()
    writer.look_for_others()
    if isinstance(found, Py4JNetworkError | OSError):
        found = f"the JVM of Spark does not answer ({type(found).__name__}); its last words are in Spark's log, above"
    return failure("query", str(found))
