"""What a failed query says, and how a process ends whose main thread waits for Spark, by a clock of the test."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JNetworkError

from pipeline.deferral.fold import FencedError
from pipeline.driver.process_exit import Backstop, query_failure
from pipeline.driver.stop import StoppedHardError, StopRequest
from pipeline.errors import PipelineError
from pipeline.events import Stopped

FULL, LIVES = (SimpleNamespace(is_out_of_memory=lambda full=full: full) for full in (True, False))
GONE = [Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError(111, "Connection refused")]


class Writer:
    def __init__(self, failed: PipelineError | None = None, *, others: bool = False) -> None:
        self.failed, self.others = failed, others

    def check(self) -> None:
        if self.failed is not None:
            raise self.failed

    def check_ownership(self) -> None:
        if self.others:
            raise FencedError("another start has taken the checkpoint over")


@pytest.mark.parametrize("found", [*GONE, "Query failed\nCaused by: a.b.C: SparkContext was shut down"])
def test_a_jvm_that_ran_out_of_memory_is_said_to_have(found: Exception | str) -> None:
    """A batch that could not ask it any more has failed as well, and says less."""
    failed = PipelineError("batch 3 failed: [Errno 111] Connection refused")
    for writer in (Writer(), Writer(failed)):
        assert str(query_failure(writer, FULL, found)).startswith("query failed: java.lang.OutOfMemoryError: the JVM")


@pytest.mark.parametrize("error", GONE)
def test_one_that_is_gone_for_another_reason_is_said_to_be(error: Exception) -> None:
    assert f"does not answer ({type(error).__name__})" in str(query_failure(Writer(), LIVES, error))
    with pytest.raises(PipelineError, match=r"^batch 3 failed"):
        query_failure(Writer(PipelineError("batch 3 failed")), LIVES, error)


def test_what_spark_says_stands_where_it_answers() -> None:
    for found in ("Query failed\nCaused by: a.b.C: text", RuntimeError("Query failed\nCaused by: a.b.C: text")):
        assert str(query_failure(Writer(), LIVES, found)) == "query failed: a.b.C: text"
    with pytest.raises(FencedError):
        query_failure(Writer(others=True), LIVES, "Query failed")


STOP_S, STALL_S = 25.0, 600.0
UNANSWERED = "stopped while Spark does not answer, as "


@dataclass
class Process:
    now: float = 0.0
    ended: list[PipelineError | Stopped] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stop = StopRequest(STOP_S, lambda: self.now)
        self.backstop = Backstop(self.stop, STALL_S, self.ended.append, lambda: self.now)

    def look_at(self, *times: float) -> None:
        for self.now in times:
            self.backstop.look()


@pytest.fixture
def process() -> Process:
    return Process()


def test_a_main_thread_that_goes_on_ends_the_process_itself(process: Process) -> None:
    for now in range(0, 3600, 10):
        process.now = float(now)
        process.backstop.goes_on()
        process.backstop.look()
    assert process.ended == []


@pytest.mark.parametrize(
    ("signals", "looks", "last", "error", "says"),
    [
        (
            1,
            (24.0, 25.5, 30.0),
            30.5,
            StoppedHardError,
            f"{UNANSWERED}stop_timeout 25 s is over",
        ),
        (2, (0.0,), 5.0, StoppedHardError, f"{UNANSWERED}a second signal came"),
        (0, (600.0, 601.0), 606.0, PipelineError, "the JVM of Spark has not answered for 600 s"),
    ],
    ids=["a stop whose time is over", "a second signal", "a main thread that has waited for too long"],
)
def test_what_ends_it(
    process: Process, signals: int, looks: Sequence[float], last: float, error: type[PipelineError], says: str
) -> None:
    for _ in range(signals):
        process.stop.signal(signal.SIGTERM)
    process.look_at(*looks)
    assert process.ended == []
    process.look_at(last)
    (ended,) = process.ended
    assert isinstance(ended, error)
    assert str(ended) == says
    assert ended.exit_code == (3 if signals else 1)


def test_where_all_is_committed_the_end_is_graceful(process: Process) -> None:
    process.stop.signal(signal.SIGTERM)
    process.backstop.committed(rounds=2)
    process.look_at(25.0, 30.0)
    assert process.ended == [Stopped(seconds=30.0, rounds_given_up=2)]


def test_a_process_that_stood_still_as_a_whole_goes_on(process: Process) -> None:
    process.look_at(1.0, 4000.0)
    process.backstop.goes_on()
    process.look_at(4005.0, 4010.0)
    assert process.ended == []
