import pytest

from pipeline.errors import (
    PipelineError,
    PositionGoneError,
    RefusedError,
    TimestampBeyondSparkError,
    UnreadableSourceError,
    failure,
    root_cause,
)
from pipeline.fetch.client import UnknownWikiError

TRACE = """\
org.apache.spark.SparkException: Job aborted due to stage failure
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:1)
Caused by: java.util.concurrent.ExecutionException: something
\tat java.base/java.lang.Thread.run(Thread.java:1)
Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The message is 23048382 bytes when serialized
"""
PYTHON = """\
[STREAM_FAILED] Query terminated with exception: Reason: Return Message: Traceback (most recent call last):
  File "readwriter.py", line 1833, in save
    self._jwrite.save()
pyspark.errors.exceptions.captured.PythonException: An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "pipeline/worker/spark_task.py", line 220, in _run
    for record in results:
botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL

	at py4j.Protocol.getReturnValue(Protocol.java:476)
"""
ENDPOINT = "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL"
TOO_LARGE = "org.apache.kafka.common.errors.RecordTooLargeException: The message is 23048382 bytes when serialized"
BRIDGE = "Caused by: py4j.Py4JException: An exception was raised. Return Message: Traceback (most recent call last):\n"
ABORTED = "org.apache.spark.SparkException: Job aborted due to stage failure: ResultStage 2 has failed"
CALL = f"""\
    raise Py4JJavaError(
py4j.protocol.Py4JJavaError: An error occurred while calling o1839.save.
: {ABORTED}
\tat org.apache.spark.MapOutputTracker$.validateStatus(MapOutputTracker.scala:1781)
"""
NO_ROOM = "org.apache.hadoop.util.DiskChecker$DiskErrorException: Could not find any valid local directory for s3ablock"
BEGIN = f"""\
An error occurred while calling o1585.create.
: {NO_ROOM}
\tat org.apache.hadoop.fs.LocalDirAllocator.getLocalPathForWrite(LocalDirAllocator.java:1)
"""
NAMELESS = (
    "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this topic-partition."
)
NO_METADATA = "a.TimeoutException: Topic out not present in metadata after 60000 ms."
CRASHED = "a.b.CrashedError: worker exited"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (TRACE, TOO_LARGE),
        (f"first\nCaused by: {CRASHED}\nCaused by: java.io.EOFException\n", CRASHED),
        (PYTHON, ENDPOINT),
        (BRIDGE + PYTHON, ENDPOINT),
        (BRIDGE + CALL, ABORTED),
        (BEGIN, NO_ROOM),
        (BRIDGE + TRACE, TOO_LARGE),
        (f"first\nCaused by: {NO_METADATA}\nCaused by: {NAMELESS}", NO_METADATA),
        (f"Caused by: {NAMELESS}", NAMELESS),
        ("first\nCaused by: java.io.EOFException\n", "java.io.EOFException"),
        ("\n  first line\nsecond line\n", "first line"),
        ("", "no cause given"),
    ],
)
def test_the_line_that_says_what_happened(text: str, cause: str) -> None:
    assert root_cause(text) == cause


def test_after_any_other_failure_a_restart_may_help() -> None:
    stopped = failure("slow lane", PYTHON)
    assert (stopped.exit_code, str(stopped)) == (1, f"slow lane failed: {ENDPOINT}")
    assert "hint" not in failure("query", TRACE).render()


UNKNOWN_WIKI = f"{UnknownWikiError.__module__}.UnknownWikiError: wiki 'xxwiki' is not in mediawiki.wikis"
KAFKA = "org.apache.kafka"
GONE = [
    f"{KAFKA}.clients.consumer.OffsetOutOfRangeException: Fetch position is out of range for partition a-0",
    "org.apache.spark.sql.kafka010.KafkaIllegalStateException: Some data may have been lost because they are not "
    "available in Kafka any more; either the data was aged out",
    "pipeline.errors.PositionGoneError: a/0 begins at 30, and is to be read from 20: 10 events are lost",
]
NO_ACL = [
    f"{KAFKA}.common.errors.TopicAuthorizationException: Not authorized to access topics: [out]",
    f"{KAFKA}.common.errors.GroupAuthorizationException: Not authorized to access group: spark",
    "kafka.errors.TopicAuthorizationFailedError: [Error 29] TopicAuthorizationFailedError: out",
]
SHUT_OUT = [f"{KAFKA}.common.errors.{name}AuthenticationException: Failed to process" for name in ("Ssl", "Sasl")]
FULL_DISK = "No space left on device"


def caused_by(cause: str) -> str:
    return f"first\nCaused by: a.Exception: x\nCaused by: {cause}\n"


@pytest.mark.parametrize(
    ("text", "exit_code", "kind", "told"),
    [
        # No restart mends these.
        (
            PYTHON.replace(ENDPOINT, UNKNOWN_WIKI),
            2,
            UnreadableSourceError,
            ["'xxwiki' is not in mediawiki.wikis", "unknown_wiki: error"],
        ),
        *((caused_by(cause), 2, PositionGoneError, [cause, "checkpoint verify"]) for cause in GONE),
        *((caused_by(cause), 2, RefusedError, [cause, "ACL"]) for cause in NO_ACL),
        # What may lie elsewhere.
        (BEGIN, 1, PipelineError, ["TMPDIR"]),
        (PYTHON.replace(ENDPOINT, f"OSError: [Errno 28] {FULL_DISK}"), 1, PipelineError, ["TMPDIR"]),
        (f"Caused by: java.io.IOException: {FULL_DISK}\n", 1, PipelineError, ["TMPDIR"]),
        *((caused_by(cause), 1, PipelineError, ["at the same path: the next start reads it"]) for cause in SHUT_OUT),
    ],
    ids=[
        *("unknown wiki", "gone for Kafka", "gone for Spark", "gone for the job", "ACL of a topic", "ACL of a group"),
        *("ACL of a client", "no room for Hadoop", "no room for Python", "no room for Java", "TLS", "login"),
    ],
)
def test_a_failure_says_whether_a_restart_helps_and_what_else_does(
    text: str, exit_code: int, kind: type, told: list[str]
) -> None:
    found = failure("query", text)
    assert (found.exit_code, type(found)) == (exit_code, kind)
    assert [part for part in told if part not in found.render()] == []


def test_a_timestamp_that_spark_cannot_read_is_told_by_the_records_place() -> None:
    beyond = (
        "org.apache.spark.sql.kafka010.KafkaIllegalStateException: Record at topic a.b partition 1 offset 2 has "
        "timestamp value 1767225600000000000 that overflows when converting to Spark's microsecond-precision "
        "TimestampType."
    )
    found = failure("query", f"{BRIDGE}{CALL}: {beyond}\nCaused by: java.lang.ArithmeticException: long overflow\n")
    assert isinstance(found, TimestampBeyondSparkError)
    assert (found.exit_code, found.record) == (1, "a.b/1/2")
    assert "record a.b/1/2 has the timestamp 1767225600000000000" in str(found)
    assert "start the job again" in str(found.hint)
