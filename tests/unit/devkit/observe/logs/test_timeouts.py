import pytest

from devkit.observe.logs.timeouts import names_timeout, reports_timeout

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
