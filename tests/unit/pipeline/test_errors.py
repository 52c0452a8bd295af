"""The contract between a pipeline and who reads its log and its exit code."""

import dataclasses
import json
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from pipeline.errors import (
    PipelineError,
    PositionGoneError,
    RefusedError,
    TimestampBeyondSparkError,
    UnreadableSourceError,
    failure,
    root_cause,
)
from pipeline.events import (
    BatchStarted,
    BreakerProbe,
    Failed,
    InvalidTerm,
    MetricsServed,
    OffsetsRead,
    PipelineEvent,
    Started,
    Waiting,
    fields_of,
)
from pipeline.fetch.client import UnknownWikiError
from pipeline.rdf.munge import ConceptBaseError

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
READ: TypeAdapter[Any] = TypeAdapter(PipelineEvent)
CLASSES = get_args(get_args(PipelineEvent)[0])
VALUES: dict[str, Any] = {
    "OffsetsRead": (OffsetsRead("source", 0, 7, 9),),
    "InvalidTerm": (InvalidTerm("http://e.org/p", "<http://e.org/[>", "encoded"),),
    "Literal['producer'": "source topic",
    "Literal['batch'": "planning",
    "Literal['store'": "store",
    "Literal": "wiki",
    "Mapping": {"key": 3},
    "tuple": ("x",),
    "str": "x",
    "int": 3,
    "float": 1.5,
    "bool": True,
}


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
        (
            PYTHON.replace(ENDPOINT, f"{ConceptBaseError.__module__}.ConceptBaseError: Q7 is below http://a"),
            2,
            UnreadableSourceError,
            ["Q7 is below http://a", "set rdf.concept_base, and apply.concept_base"],
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
        *(
            "unknown wiki",
            "concept base",
            "gone for Kafka",
            "gone for Spark",
            "gone for the job",
            "ACL of a topic",
            "ACL of a group",
        ),
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


def an_event(kind: type[Any]) -> Any:
    """One with all its fields, by their types."""
    hints = {field.name: str(field.type) for field in dataclasses.fields(kind) if field.name != "event"}
    return kind(**{name: next(value for part, value in VALUES.items() if part in hint) for name, hint in hints.items()})


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_what_is_said_is_read_as_the_same(kind: type[Any]) -> None:
    event = an_event(kind)
    line = json.dumps({"at": "2026-11-22T10:00:00Z", "event": event.event} | fields_of(event))
    assert READ.validate_json(line, strict=True) == event


def test_each_has_a_name_of_its_own() -> None:
    names = [dataclasses.fields(kind)[0].default for kind in CLASSES]
    assert len(set(names)) == len(CLASSES) > 1


def test_what_may_be_left_out_is_where_there_is_nothing_to_say() -> None:
    probe = BreakerProbe(grain="wiki", wiki="enwiki", path="/x", answer="status 200", healthy=True)
    fields = {"grain": "wiki", "wiki": "enwiki", "path": "/x", "answer": "status 200", "healthy": True}
    assert fields_of(probe) == fields
    waiting = {"batch": 7, "reason": "full", "entries": 4, "bytes": 9}
    assert fields_of(Waiting(**waiting)) == waiting  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ({"event": "started"}, Started()),
        ({"event": "batch_started", "batch": 7}, BatchStarted(batch=7)),
        ({"event": "failed", "error": "too large"}, Failed(error="too large")),
        (
            {"event": "metrics", "url": "http://127.0.0.1:9410/metrics"},
            MetricsServed(url="http://127.0.0.1:9410/metrics"),
        ),
    ],
)
def test_another_program_may_say_no_more_than_this(line: dict[str, Any], event: object) -> None:
    """As `docs/own-pipeline.md` promises."""
    assert READ.validate_json(json.dumps(line), strict=True) == event


@pytest.mark.parametrize(
    "line",
    [
        {"event": "nothing known"},
        {"event": "batch_started"},
        {"event": "batch_started", "batch": "7"},
        {"event": "failed"},
    ],
)
def test_what_is_no_event_of_a_pipeline_is_told_from_one(line: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        READ.validate_json(json.dumps(line), strict=True)
