"""Signals of the JVM that has started the job, through a bridge that answers as py4j does."""

import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext, java_gateway

from pipeline.driver.stop import PASSED_ON, pass_signals_on
from pipeline.errors import RefusedError


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
