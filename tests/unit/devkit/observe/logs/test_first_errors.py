from dataclasses import replace

import pytest

from devkit.observe.logs.first_errors import Complaint, FirstComplaints, complaint_in
from devkit.observe.logs.logs import UnknownLine
from devkit.observe.logs.timeouts import names_timeout, reports_timeout
from devkit.observe.timeline.kit_events import ProcessEnded, ProgramEvent
from pipeline.events import (
    BrokersAwaited,
    Failed,
    HeapDumped,
    JvmUnknown,
    LimitOf,
    LimitsDisagree,
    LimitsUnknown,
    Started,
    WikisFileRead,
    WikisFileUnusable,
)

HEAP = HeapDumped(file="/x.hprof", bytes=9, classes={"byte[]": 300 << 20, "a.Row": 2 << 20})
AWAITED = BrokersAwaited(bootstrap="b:1", reason="no", remaining_s=9)
UNUSABLE = WikisFileUnusable(file="w", reason="no table", hint="write one", wikis=2)
DISAGREE = LimitsDisagree(problem="the topic takes 1MiB, the producer sends 20MiB", hint="raise max.message.bytes")
TIMEOUTS = """
query failed: org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for out-0:120000 ms
query failed: java.net.SocketTimeoutException: Read timed out
java.util.concurrent.TimeoutException
TimeoutError: the store did not answer
requests.exceptions.ReadTimeout: HTTPSConnectionPool
org.apache.kafka.clients.Nested$TimeoutException: x
KafkaException: KafkaError{code=_TIMED_OUT,val=-185,str="Local: Timed out"}
grpc.DeadlineExceededError: x
KafkaException: KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum poll interval exceeded"}
org.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed
kafka.errors.CommitFailedError: the group has rebalanced
SparkException: ExecutorLostFailure (executor 1 exited) Reason: Executor heartbeat timed out after 130000 ms
"""
OTHER_FAILURES = """
query failed: org.apache.kafka.common.errors.RecordTooLargeException: larger than max.request.size
query could not begin: unknown setting spark.network.timeout
IllegalArgumentException: requestTimeout is negative
ConfigException: heartbeat timed out after is no setting, max.poll.interval.ms is
pipeline.errors.ConfigError: retry.Timeouts is no setting
"""
TIMED_OUT_EVENTS = """
deadline_exceeded: revision 9 of enwiki: no answer before the deadline
fetch_failed: revision 9 of enwiki: no answer within 2 s
fetch_failed: revision 9 of enwiki: ServerTimeoutError: x
batch_budget: not fetched in any of its tries
timeout: the upstream did not answer within 3s
TimedOut
"""
OTHER_EVENTS = """
revision_not_found: no revision 9
fetch_failed: revision 9: status 504
upstream_error: no title timeout
"""


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        (Started(), None),
        (WikisFileRead(file="w", wikis=2), None),
        (ProcessEnded(process=1, exit_code=1), None),
        (UnknownLine("progress", {"level": "info", "message": "x"}), None),
        (UnknownLine("progress", {"error": "none"}), None),
        (DISAGREE, ("warning", "the topic takes 1MiB, the producer sends 20MiB; raise max.message.bytes")),
        (Failed(error="query failed: x"), ("error", "query failed: x")),
        (JvmUnknown(error="OSError: gone"), ("warning", "the driver's JVM did not answer: OSError: gone")),
        (HEAP, ("error", "the driver's JVM ran out of memory: /x.hprof holds byte[] 300MiB, a.Row 2MiB")),
        (replace(HEAP, classes={}), ("error", "the driver's JVM ran out of memory: /x.hprof holds its heap")),
        (Failed(error="unsafe: x", refused=True), ("refusal", "unsafe: x")),
        (AWAITED, ("warning", "the start waits for the brokers at b:1: no")),
        (LimitsUnknown(bootstrap="b:1", reason="no"), ("warning", "the brokers at b:1 did not say their limits: no")),
        (UNUSABLE, ("warning", "no table; write one")),
        (UnknownLine("oops", {"level": "WARN", "msg": "low on memory"}), ("warning", "low on memory")),
        (UnknownLine("oops", {"level": "error", "error": "boom"}), ("error", "boom")),
    ],
)
def test_what_a_program_says_of_a_problem(event: ProgramEvent, complaint: tuple[str, str] | None) -> None:
    assert complaint_in(event) == complaint


def test_the_first_warning_and_the_first_error_are_kept() -> None:
    first = FirstComplaints()
    for at_s, event in enumerate([DISAGREE, DISAGREE, Failed(error="a"), Failed(error="b")]):
        first.take(event, at_s=at_s, program="", process=1 + (at_s > 2))
        assert first.has_error == (at_s > 1), "a warning is no error"
    assert [(one.kind, one.at_s) for one in first.found] == [("warning", 0), ("error", 2)]


@pytest.mark.parametrize(("of", "is_kept"), [("source topic", False), ("output topic", True), (None, True)])
def test_what_the_kit_itself_has_made_disagree_is_no_complaint(of: LimitOf | None, is_kept: bool) -> None:
    first = FirstComplaints(frozenset({"source topic"}))
    first.take(replace(DISAGREE, of=of), at_s=0, program="", process=1)
    first.take(LimitsUnknown(bootstrap="b:1", reason="no"), at_s=1, program="", process=1)
    assert [one.event for one in first.found] == ["limits_disagree" if is_kept else "limits_unknown"]


def test_as_a_person_is_told() -> None:
    complaint = Complaint(kind="warning", event="limits_disagree", text="no", at_s=3.14159)
    assert complaint.sentence == "at 3.1s, process 1, warning (limits_disagree): no"
    unknown = Complaint(kind="exception", text="ValueError: no", program="reader", process=2)
    assert unknown.sentence == "reader process 2, exception: ValueError: no"


@pytest.mark.parametrize("failure", TIMEOUTS.strip().splitlines())
def test_a_failure_that_names_a_timeout(failure: str) -> None:
    assert names_timeout(failure)


@pytest.mark.parametrize("failure", ["", *OTHER_FAILURES.strip().splitlines()])
def test_a_failure_of_something_else(failure: str) -> None:
    assert not names_timeout(failure)


@pytest.mark.parametrize(
    ("errors", "is_timeout"), [(TIMED_OUT_EVENTS, True), (OTHER_EVENTS, False)], ids=["a timeout", "something else"]
)
def test_an_error_event(errors: str, is_timeout: bool) -> None:
    lines = errors.strip().splitlines()
    assert {error: reports_timeout(error) for error in lines} == dict.fromkeys(lines, is_timeout)
