"""What a signal asks for, the gate that no batch passes afterwards, and how a process ends."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext, java_gateway

from pipeline.deferral.fold import FencedError
from pipeline.driver.process_exit import Backstop, query_failure
from pipeline.driver.stop import (
    PASSED_ON,
    BatchGate,
    HeldError,
    StoppedEarlyError,
    StoppedHardError,
    StopRequest,
    hold,
    late_signals,
    on_signals,
    pass_signals_on,
    stop_early,
)
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import Stopped

FULL, LIVES = (SimpleNamespace(is_out_of_memory=lambda full=full: full) for full in (True, False))
GONE = [Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError(111, "Connection refused")]


def test_a_request_ends_the_patience_with_its_time_or_a_second_signal() -> None:
    now = [5.0]
    stop = StopRequest(10, lambda: now[0])
    assert (stop.is_there, stop.seconds, stop.ends_now) == (False, 0.0, None)
    now[0] = 100.0
    assert stop.ends_now is None, "nobody has asked"
    stop.signal(signal.SIGTERM)
    assert (stop.is_there, stop.seconds, stop.ends_now) == (True, 0.0, None)
    now[0] = 109.9
    assert stop.ends_now is None
    now[0] = 110.0
    assert stop.ends_now == "stop_timeout 10 s is over"
    now[0] = 101.0
    stop.signal(signal.SIGINT)
    assert stop.ends_now == "a second signal came"
    assert stop.seconds == 1.0, "from the first"


def test_a_signal_to_a_group_of_processes_comes_in_two_ways_and_is_one() -> None:
    stop = StopRequest(10, lambda: 0.0)
    stop.signal(signal.SIGTERM)
    stop.signal(PASSED_ON)
    assert (stop.is_there, stop.ends_now) == (True, None)
    stop.signal(PASSED_ON)
    assert stop.ends_now == "a second signal came"


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(
    ("first", "ends", "ignored"),
    [
        (signal.SIGTERM, [signal.SIGTERM, signal.SIGINT], [PASSED_ON]),
        (PASSED_ON, [PASSED_ON], [signal.SIGTERM, signal.SIGINT]),
    ],
    ids=["own", "passed on"],
)
def test_a_signal_before_the_query_runs_is_taken_once_whichever_way_it_comes_first(
    first: signal.Signals, ends: list[int], ignored: list[int]
) -> None:
    on_signals(stop_early)
    with pytest.raises(StoppedEarlyError):
        signal.raise_signal(first)
    assert {signal.getsignal(number) for number in ends} == {signal.SIG_DFL}
    assert {signal.getsignal(number) for number in ignored} == {signal.SIG_IGN}


OWN = (signal.SIGTERM, signal.SIGINT)


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", OWN)
def test_a_signal_that_must_wait_does_at_the_end_what_it_does(number: int) -> None:
    on_signals(stop_early)
    meanwhile = set()

    def work() -> None:
        with late_signals():
            signal.raise_signal(number)
            meanwhile.update(signal.getsignal(one) for one in OWN)

    with pytest.raises(StoppedEarlyError):
        work()
    assert meanwhile == {signal.SIG_DFL}, "a second one would end the process"


@pytest.mark.usefixtures("handlers")
def test_without_a_signal_nothing_is_changed() -> None:
    on_signals(stop_early)
    with late_signals():
        pass
    assert {signal.getsignal(one) for one in OWN} == {stop_early}


def test_a_closed_gate_keeps_whom_it_has_and_lets_nobody_in() -> None:
    gate = BatchGate()
    assert gate.enter(4)
    assert gate.batch == 4
    gate.close()
    assert (gate.batch, gate.held) == (4, False)
    gate.leave()
    assert gate.batch is None
    assert not gate.enter(5)
    assert (gate.batch, gate.held) == (None, True)


def spark(sleep: Any) -> Any:
    thread = SimpleNamespace(sleep=sleep)
    return SimpleNamespace(_jvm=SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(Thread=thread))))


def test_who_is_held_ends_in_words_that_spark_takes_for_a_stop() -> None:
    """And not with the trace of the interruption, which is longer than Spark can search."""

    def interrupted(_milliseconds: int) -> None:
        exception = Py4JJavaError.__new__(Py4JJavaError)
        exception.errmsg = "An error occurred while calling sleep"
        raise exception

    with pytest.raises(HeldError) as caught:
        hold(spark(interrupted))
    assert "py4j.protocol.Py4JJavaError: An error occurred while calling" in str(caught.value)
    assert "java.lang.InterruptedException" in str(caught.value)
    assert caught.value.__suppress_context__


def test_who_is_never_interrupted_writes_nothing_all_the_same() -> None:
    with pytest.raises(HeldError, match="the query was not stopped"):
        hold(spark(lambda _milliseconds: None))


class _UsedError(Py4JJavaError):
    def __str__(self) -> str:
        return "java.lang.IllegalArgumentException: Signal already used by VM or OS: SIGTERM"


class Jvm:
    """Its handlers by the signal's name; with `-Xrs` it has none."""

    def __init__(self) -> None:
        self.handlers = dict[str, Any]()
        self.leaves_signals_alone = False

    def __call__(self, name: str) -> str:
        return name

    def handle(self, name: str, handler: Any) -> None:
        if self.leaves_signals_alone:
            raise _UsedError.__new__(_UsedError)
        self.handlers[name] = handler


@pytest.fixture
def jvm(monkeypatch: pytest.MonkeyPatch) -> Jvm:
    made = Jvm()
    gateway = SimpleNamespace(jvm=SimpleNamespace(sun=SimpleNamespace(misc=SimpleNamespace(Signal=made))))
    monkeypatch.setattr(SparkContext, "_ensure_initialized", lambda: None)
    monkeypatch.setattr(SparkContext, "_gateway", gateway)
    monkeypatch.setattr(java_gateway, "ensure_callback_server_started", lambda _gateway: None)
    return made


@pytest.fixture
def heard() -> Iterator[list[int]]:
    numbers = list[int]()
    before = signal.signal(PASSED_ON, lambda number, _frame: numbers.append(number))
    yield numbers
    signal.signal(PASSED_ON, before)


def test_what_asks_the_jvm_to_end_asks_this_process(jvm: Jvm, heard: list[int]) -> None:
    pass_signals_on()
    assert set(jvm.handlers) == {"TERM", "INT"}
    assert jvm.handlers["TERM"].Java.implements == ["sun.misc.SignalHandler"]
    assert heard == []
    for handler in jvm.handlers.values():
        handler.handle(object())
    assert heard == [PASSED_ON, PASSED_ON]


def test_a_jvm_that_leaves_signals_alone_is_refused(jvm: Jvm) -> None:
    jvm.leaves_signals_alone = True
    with pytest.raises(RefusedError, match="Signal already used by VM or OS: SIGTERM") as caught:
        pass_signals_on()
    assert "-Xrs" in (caught.value.hint or "")


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
