"""What a signal asks for, and the gate that no batch passes afterwards."""

from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from pipeline.driver.stop import BatchGate, HeldError, StopRequest, hold


def test_a_request_ends_the_patience_with_its_time_or_a_second_signal() -> None:
    now = [5.0]
    stop = StopRequest(10, lambda: now[0])
    assert (stop.is_there, stop.seconds, stop.ends_now) == (False, 0.0, None)
    now[0] = 100.0
    assert stop.ends_now is None, "nobody has asked"
    stop.signal()
    assert (stop.is_there, stop.seconds, stop.ends_now) == (True, 0.0, None)
    now[0] = 109.9
    assert stop.ends_now is None
    now[0] = 110.0
    assert stop.ends_now == "stop_timeout 10 s is over"
    now[0] = 101.0
    stop.signal()
    assert stop.ends_now == "a second signal came"
    assert stop.seconds == 1.0, "from the first"


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
