"""The end of a process whose main thread waits for Spark, by a clock that the test turns."""

import signal
from dataclasses import dataclass, field

import pytest

from pipeline.driver.process_exit import Backstop
from pipeline.driver.stop import StoppedHardError, StopRequest
from pipeline.errors import PipelineError
from pipeline.events import Stopped

STOP_S, STALL_S = 25.0, 600.0


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


def test_a_stop_whose_time_is_over_ends_it(process: Process) -> None:
    process.stop.signal(signal.SIGTERM)
    process.look_at(24.0, 25.5, 30.0)
    assert process.ended == []
    process.look_at(30.5)
    (error,) = process.ended
    assert isinstance(error, StoppedHardError)
    assert str(error) == "stopped while Spark does not answer, as stop_timeout 25 s is over"


def test_a_second_signal_ends_it(process: Process) -> None:
    for _ in range(2):
        process.stop.signal(signal.SIGTERM)
    process.look_at(0.0, 5.0)
    (error,) = process.ended
    assert "a second signal came" in str(error)


def test_where_all_is_committed_the_end_is_graceful(process: Process) -> None:
    process.stop.signal(signal.SIGTERM)
    process.backstop.committed(rounds=2)
    process.look_at(25.0, 30.0)
    assert process.ended == [Stopped(seconds=30.0, rounds_given_up=2)]


def test_a_main_thread_that_has_waited_for_too_long_ends_it_without_a_signal(process: Process) -> None:
    process.look_at(600.0, 601.0, 606.0)
    (error,) = process.ended
    assert error.exit_code == 1 if isinstance(error, PipelineError) else False
    assert str(error) == "the JVM of Spark has not answered for 600 s"


def test_a_process_that_stood_still_as_a_whole_goes_on(process: Process) -> None:
    process.look_at(1.0, 4000.0)
    process.backstop.goes_on()
    process.look_at(4005.0, 4010.0)
    assert process.ended == []
