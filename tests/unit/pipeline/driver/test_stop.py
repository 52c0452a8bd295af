"""What a signal asks for, and the gate that no batch passes afterwards."""

import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext, java_gateway

from pipeline.driver.stop import (
    PASSED_ON,
    BatchGate,
    HeldError,
    StoppedEarlyError,
    StopRequest,
    hold,
    late_signals,
    on_signals,
    pass_signals_on,
    stop_early,
)
from pipeline.errors import RefusedError


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
