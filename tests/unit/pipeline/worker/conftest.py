"""What stands around a worker in its tests: an engine, a producer that notes what it is sent, and a job of the test."""

from collections.abc import Callable, Generator
from typing import Any

import pyarrow as pa
import pytest

from pipeline.worker import spark_task
from pipeline.worker.engine import LoopThread, ResultBuffer
from tests.unit.pipeline.deferral.producing import NotingProducer
from tests.unit.pipeline.one_by_one import run

Engine = Callable[..., Generator[Any]]
InTime = Callable[[Callable[[], Any]], Any]
Work = Callable[..., list[pa.RecordBatch]]
ATTEMPT = 41


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> NotingProducer:
    """Acknowledges everything."""
    made = NotingProducer()
    monkeypatch.setattr(spark_task, "_producer", lambda *_: made)
    return made


@pytest.fixture
def engine(loop_thread: LoopThread) -> Engine:
    """A run with results one by one. Each message is of a page of its own, and its outcome is its result."""

    def start(messages: Any, process: Any, settle: Any = lambda _message, outcome: outcome, **options: Any) -> Any:
        buffer = ResultBuffer[Any](1_000_000, lambda _result: 1)
        least = {"thread": loop_thread, "key_of": lambda message: message, "max_started": 4, "buffer": buffer}
        return run(messages, process, settle, **least | options)

    return start


@pytest.fixture
def work(loop_thread: LoopThread, monkeypatch: pytest.MonkeyPatch, in_time: InTime) -> Work:
    """What a worker's function makes of Arrow batches, with a job of the test, in attempt `ATTEMPT` of the task."""

    def go(function: Any, job: Any, *batches: pa.RecordBatch) -> list[pa.RecordBatch]:
        monkeypatch.setattr(spark_task, "_loop_thread", lambda: loop_thread)
        monkeypatch.setattr(spark_task, "_job", lambda *_: job)
        monkeypatch.setattr(spark_task, "task_attempt", lambda: ATTEMPT)
        made: list[pa.RecordBatch] = in_time(lambda: list(function(iter(batches))))
        return made

    return go
