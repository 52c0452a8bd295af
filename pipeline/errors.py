"""The exceptions of the pipeline, and what of other exceptions is worth reporting.

PipelineError              the process ends, exit 1: a restart may help
├── RefusedError           the process does not begin, exit 2: a restart cannot help
│   └── PositionGoneError  nor does it go on: retention, for example, has deleted what it has to read next
└── UnreadableSourceError  what the source holds is for another version of the job, or for other settings, exit 2: a
                           restart cannot help
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from located_config.redaction import redacted_text

# A class within another has `$` in its name.
_RAISED = re.compile(r"(?:[a-z_]\w*\.)*[A-Z][\w$]*(?:Error|Exception): \S")
# It names no topic; what it is the cause of does.
_NAMELESS = "UnknownTopicOrPartitionException: This server does not host this topic-partition"
# Raised in a Python worker, and a restart would only meet it again.
_UNKNOWN_WIKI = "pipeline.fetch.client.UnknownWikiError: "
_CONCEPT_BASE = "pipeline.rdf.munge.ConceptBaseError: "
# What Java's clients and Python's say where an ACL is missing.
_DENIED = re.compile(r"\b(?:Topic|Group|Cluster)Authorization(?:Exception|FailedError): ")
MISSING_RIGHTS = "give the job's user the ACL; docs/running.md lists the rights that a job needs"
# What Spark says where a topic does not hold any more what is to be read next, and the exception of the aligned source.
_GONE = re.compile(
    r"Some data may have been lost because they are not available in Kafka any more"
    r"|\bOffsetOutOfRangeException: |\bpipeline\.errors\.PositionGoneError: "
)
_BEYOND_SPARK = re.compile(
    r"Record at topic (\S+) partition (\d+) offset (\d+) has timestamp value (-?\d+) that overflows"
)
# What the system says, and what Hadoop does, which looks for room before it writes.
_FULL = re.compile(r"No space left on device|Disk quota exceeded|\bDiskErrorException: ")
_FULL_HINT = (
    "free some space on this machine or the executor's, or name another disk: TMPDIR for the spool files of large "
    "pages, spark.local.dir for Spark's own, spark.hadoop.fs.s3a.buffer.dir for what goes to S3; a restart goes on "
    "from the checkpoint"
)
# Of a running job: its certificate's time is over, or its password is another one by now.
_LET_IN_NO_MORE = re.compile(r"\bS(?:sl|asl)Authentication(?:Exception|FailedError): ")
_LET_IN_NO_MORE_HINT = (
    "renew the certificate, or write the new password, at the same path: the next start reads it, and says what is "
    "wrong with it"
)
_GOES_ON = "Traceback (most recent call last):"


EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        0: "The job was stopped gracefully, or the command did what it was asked for.",
        1: "The query failed, or something did not answer: a restart may help.",
        2: "Refused, as what was asked for or what the source holds cannot be processed; a restart cannot help. Wrong "
        "usage of the command line too, and a job that another process of the same job has taken over.",
        3: "The job was stopped in the middle of a batch, as `stop_timeout` was over; the batch comes again.",
        130: "Ctrl-C ended a command that copies; it says how many records were sent.",
    }
)
"""What the exit codes of `python -m pipeline` mean."""


class PipelineError(Exception):
    """What failed, with its value; ``hint`` says what a person can do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def render(self) -> str:
        """For a terminal: what failed, and the hint below it, without secrets."""
        return redacted_text(f"error: {self}" + (f"\nhint: {self.hint}" if self.hint else ""))


class RefusedError(PipelineError):
    """Configuration, start position or checkpoint with which the job must not begin."""

    exit_code = 2


class PositionGoneError(RefusedError):
    """The source topic does not hold any more what the job has to read next."""

    def __init__(self, message: str) -> None:
        super().__init__(
            message,
            hint="`python -m pipeline checkpoint verify` says how many events are lost, and `checkpoint set-offsets` "
            "goes on with what remains; docs/runbooks/position-gone.md has the steps",
        )


class UnreadableSourceError(PipelineError):
    """Events that this version of the job, or its configuration, is not made for, so that it must not go on."""

    exit_code = 2


class TimestampBeyondSparkError(PipelineError):
    """A record whose timestamp Spark's Kafka source cannot read, as its own times are of microseconds. The next start
    reads without it (`pipeline.driver.source_stream`).
    """

    def __init__(self, record: str, timestamp: str) -> None:
        super().__init__(
            f"record {record} has the timestamp {timestamp}, which Spark's Kafka source cannot read",
            hint="start the job again: the checkpoint notes it, and the job reads on with another reader; have the "
            "producer write milliseconds, which message.timestamp.after.max.ms of the topic enforces",
        )
        self.record = record


def failure(operation: str, text: str) -> PipelineError:
    """The error that ends a job when Spark says `text` of it."""
    if match := _BEYOND_SPARK.search(text):
        return TimestampBeyondSparkError("/".join(match.group(1, 2, 3)), match[4])
    cause = root_cause(text)
    if cause.startswith(_UNKNOWN_WIKI):
        return UnreadableSourceError(
            f"{operation} failed: {cause}",
            hint="add the wiki to mediawiki.wikis or to the file of wikis; with mediawiki.unknown_wiki: error its "
            "events are error events",
        )
    if cause.startswith(_CONCEPT_BASE):
        return UnreadableSourceError(
            f"{operation} failed: {cause}",
            hint="set rdf.concept_base, and apply.concept_base in the file of `apply`, to the base that the wiki has; "
            "a restart goes on from the checkpoint",
        )
    if _DENIED.search(cause):
        return RefusedError(f"{operation} failed: {cause}", hint=MISSING_RIGHTS)
    if _GONE.search(text):
        return PositionGoneError(f"{operation} failed: {cause}")
    return PipelineError(f"{operation} failed: {cause}", hint=_hint(cause))


def _hint(cause: str) -> str | None:
    return _LET_IN_NO_MORE_HINT if _LET_IN_NO_MORE.search(cause) else full_disk_hint(cause)


def full_disk_hint(cause: str) -> str | None:
    """What to do where a disk is full; None where that is not the cause."""
    return _FULL_HINT if _FULL.search(cause) else None


def root_cause(text: str) -> str:
    """The line of a stack trace, Java's with perhaps Python's in it, that says what happened; else its first line.

    That is the last cause with a message, or the exception that a Python worker raised.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    telling = [cause for cause in causes if ": " in cause and not cause.endswith(_GOES_ON)]
    if len(telling) > 1 and _NAMELESS in telling[-1]:
        telling.pop()
    # Below the bridge's own exception stands Java's, behind a colon.
    raised = [line for line in (line.removeprefix(": ") for line in lines) if _RAISED.match(line)]
    return next((candidates[-1] for candidates in (telling, raised, causes, lines[:1]) if candidates), "no cause given")
