import pytest

from pipeline.errors import RefusedError, TimestampBeyondSparkError, failure, root_cause
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
    "Caused by: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
    "This server does not host this topic-partition."
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            TRACE,
            "org.apache.kafka.common.errors.RecordTooLargeException: The message is 23048382 bytes when serialized",
        ),
        (
            "first\nCaused by: a.b.CrashedError: worker exited\nCaused by: java.io.EOFException\n",
            "a.b.CrashedError: worker exited",
        ),
        (PYTHON, "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL"),
        (BRIDGE + PYTHON, "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL"),
        (BRIDGE + CALL, ABORTED),
        (BEGIN, NO_ROOM),
        (
            BRIDGE + TRACE,
            "org.apache.kafka.common.errors.RecordTooLargeException: The message is 23048382 bytes when serialized",
        ),
        (
            f"first\nCaused by: a.TimeoutException: Topic out not present in metadata after 60000 ms.\n{NAMELESS}",
            "a.TimeoutException: Topic out not present in metadata after 60000 ms.",
        ),
        (NAMELESS, NAMELESS.removeprefix("Caused by: ")),
        ("first\nCaused by: java.io.EOFException\n", "java.io.EOFException"),
        ("\n  first line\nsecond line\n", "first line"),
        ("", "no cause given"),
    ],
)
def test_the_line_that_says_what_happened(text: str, cause: str) -> None:
    assert root_cause(text) == cause


def test_a_wiki_that_is_not_known_cannot_be_helped_by_a_restart() -> None:
    trace = PYTHON.replace(
        "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL",
        f"{UnknownWikiError.__module__}.UnknownWikiError: wiki 'xxwiki' is not in mediawiki.wikis",
    )
    stopped = failure("query", trace)
    assert stopped.exit_code == 2
    assert "wiki 'xxwiki' is not in mediawiki.wikis" in str(stopped)
    assert "unknown_wiki: error" in str(stopped.hint)


def test_after_any_other_failure_a_restart_may_help() -> None:
    stopped = failure("slow lane", PYTHON)
    assert (stopped.exit_code, str(stopped)) == (
        1,
        "slow lane failed: botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL",
    )


@pytest.mark.parametrize(
    "cause",
    [
        "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position is out of range for partition a-0",
        "org.apache.spark.sql.kafka010.KafkaIllegalStateException: Some data may have been lost because they are not "
        "available in Kafka any more; either the data was aged out",
        "pipeline.errors.PositionGoneError: a/0 begins at 30, and is to be read from 20: 10 events are lost",
    ],
)
def test_what_a_topic_does_not_hold_any_more_no_restart_brings_back(cause: str) -> None:
    error = failure("query", f"first\nCaused by: a.Exception: x\nCaused by: {cause}\n")
    assert isinstance(error, RefusedError)
    assert cause in str(error)
    assert "checkpoint verify" in str(error.hint)


@pytest.mark.parametrize(
    "cause",
    [
        "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [out]",
        "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: spark",
        "kafka.errors.TopicAuthorizationFailedError: [Error 29] TopicAuthorizationFailedError: out",
    ],
)
def test_a_missing_acl_is_nothing_that_a_restart_can_mend(cause: str) -> None:
    error = failure("query", f"first\nCaused by: a.Exception: x\nCaused by: {cause}\n")
    assert isinstance(error, RefusedError)
    assert cause in str(error)
    assert "ACL" in str(error.hint)


@pytest.mark.parametrize(
    "text",
    [
        BEGIN,
        PYTHON.replace(
            "botocore.exceptions.EndpointConnectionError: Could", "OSError: [Errno 28] No space left on device"
        ),
        "Caused by: java.io.IOException: No space left on device\n",
    ],
)
def test_a_full_disk_is_told_with_what_may_lie_elsewhere(text: str) -> None:
    found = failure("query", text)
    assert found.exit_code == 1
    assert "TMPDIR" in found.render()
    assert "hint" not in failure("query", TRACE).render()


@pytest.mark.parametrize("name", ["SslAuthenticationException", "SaslAuthenticationException"])
def test_a_job_that_is_let_in_no_more_may_be_after_a_restart(name: str) -> None:
    found = failure("query", f"Caused by: org.apache.kafka.common.errors.{name}: Failed to process messages\n")
    assert found.exit_code == 1
    assert "at the same path: the next start reads it" in found.render()


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
