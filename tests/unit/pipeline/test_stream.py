"""How a run ends and whose failure it tells, with a query that does what the test says."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pipeline import log, stream
from pipeline.config import PipelineConfig
from pipeline.errors import PipelineError

TRACE = "Query failed\nCaused by: a.b.RecordTooLargeException: The message is 23048294 bytes\n"
PROXY = (
    "Query failed\nCaused by: py4j.Py4JException: An exception was raised by the Python Proxy. Return Message: Trace"
)


@dataclass
class Query:
    """Each wait does the next of `events`: nothing, raise, or call."""

    events: list[Any] = field(default_factory=list)
    active: list[bool] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    ended_with: str | None = None

    @property
    def isActive(self) -> bool:  # noqa: N802 — Spark's name
        return self.ended_with is None

    @property
    def status(self) -> dict[str, bool]:
        self.steps.append("status")
        return {"isTriggerActive": self.active.pop(0) if self.active else True}

    def awaitTermination(self, _timeout: float) -> None:  # noqa: N802
        event = self.events.pop(0)
        if isinstance(event, Exception):
            raise event
        if event is not None:
            event()

    def stop(self) -> None:
        self.steps.append("query stopped")

    def exception(self) -> str | None:
        return self.ended_with


@dataclass
class Writer:
    query: Query
    failures: list[PipelineError | None] = field(default_factory=list)
    committed: list[int | None] = field(default_factory=list)

    @property
    def batch(self) -> int:
        self.query.steps.append("batch")
        return 7

    def check(self, *, committed: int | None = None) -> None:
        self.committed.append(committed)
        if self.failures and (failure := self.failures.pop(0)):
            raise failure

    def stop(self) -> None:
        self.query.steps.append("writer stopped")


Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def run(make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a query to its end; what was said. The handlers of this process's signals come back at the end."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def go(query: Query, writer: Writer) -> list[dict[str, Any]]:
        said: list[dict[str, Any]] = []
        monkeypatch.setattr(log, "say", lambda event, **fields: said.append({"event": event} | fields))
        monkeypatch.setattr(stream, "_begin", lambda *_, **__: (query, writer, None))
        stream.run(make_config(), None)
        return said

    yield go
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(run: Run, number: signal.Signals) -> None:
    """First nothing new begins, which also ends a batch that waits for room; then Spark is told."""
    query = Query(events=[None, lambda: os.kill(os.getpid(), number)])
    said = run(query, Writer(query))
    assert [line["event"] for line in said] == ["started", "stopped"]
    assert query.steps[-2:] == ["writer stopped", "query stopped"]


def test_a_failed_query_says_what_java_said(run: Run) -> None:
    query = Query(events=[None, RuntimeError(TRACE)])
    with pytest.raises(
        PipelineError, match=r"query failed: a.b.RecordTooLargeException: The message is 23048294 bytes"
    ):
        run(query, Writer(query))


def test_a_query_that_ended_by_itself_says_why(run: Run) -> None:
    query = Query()

    def end() -> None:
        query.ended_with = TRACE

    query.events.append(end)
    with pytest.raises(PipelineError, match=r"query failed: a.b.RecordTooLargeException"):
        run(query, Writer(query))


def test_where_python_failed_python_is_asked(run: Run) -> None:
    """Of an exception that went through it Spark knows only that there was one."""
    query = Query(events=[RuntimeError(PROXY)])
    with pytest.raises(PipelineError, match=r"^a driver of epoch 3 has started$"):
        run(query, Writer(query, [PipelineError("a driver of epoch 3 has started")]))


def test_a_failure_beside_the_query_ends_the_run(run: Run) -> None:
    query = Query(events=[None, None])
    with pytest.raises(PipelineError, match=r"^slow lane failed: worker exited$"):
        run(query, Writer(query, [None, PipelineError("slow lane failed: worker exited")]))


def test_a_batch_has_ended_when_it_was_there_before_the_trigger_rested(run: Run) -> None:
    """The other way round, the answer could be about the batch before."""
    query = Query(events=[None, None, RuntimeError(TRACE)], active=[True, False])
    writer = Writer(query)
    with pytest.raises(PipelineError):
        run(query, writer)
    assert query.steps == ["batch", "status"] * 2
    assert writer.committed[:2] == [None, 7]


def test_what_fails_before_the_query_runs_is_told_with_what_it_needs(
    make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("first\nCaused by: java.lang.ClassNotFoundException: kafka")

    monkeypatch.setattr(stream, "_begin", fail)
    with pytest.raises(
        PipelineError, match=r"query could not begin: java.lang.ClassNotFoundException: kafka"
    ) as caught:
        stream.run(make_config(), None)
    assert "classpath" in str(caught.value.hint)
