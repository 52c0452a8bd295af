"""A round's job around Spark's accumulators, which are the real ones; the job itself is the test's."""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from unittest.mock import ANY

import pytest
from pyspark import accumulators

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral import rounds as module
from pipeline.deferral.entry import Entry, Fact, Resolved
from pipeline.deferral.rounds import SparkRounds
from pipeline.events import OffsetsRead
from pipeline.metrics import worker_metrics
from pipeline.worker.task_attempt import EndedTask
from tests.unit.pipeline.deferral.making import entry

ENTRIES = [entry(1, stuck=True, attempt=2, reason="status 504"), entry(2)]


class Context:
    """Makes accumulators as Spark's does."""

    def __init__(self) -> None:
        # Far from the numbers of others in this process.
        self._numbers = itertools.count(10**6)

    def accumulator(self, value: Any, param: Any) -> Any:
        return accumulators.Accumulator(next(self._numbers), value, param)


Job = Callable[[Any], None]


class Frame:
    """Of entries; `run` gets the function when it is written."""

    sparkContext = Context()  # noqa: N815 — Spark's name

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.job: Job = lambda _function: None

    def select(self, *columns: str) -> "Frame":
        return self

    def coalesce(self, partitions: int) -> "Frame":
        self.steps.append(partitions)
        return self

    def mapInArrow(self, function: Any, _schema: str) -> "Frame":  # noqa: N802
        self.function = function
        return self

    @property
    def write(self) -> "Frame":
        return self

    def format(self, name: str) -> "Frame":
        assert name == "noop", "the task writes by itself"
        return self

    def mode(self, _name: str) -> "Frame":
        return self

    def save(self) -> None:
        self.job(self.function)


@pytest.fixture
def run(
    make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Job], list[Fact]]]:
    before = dict(accumulators._accumulatorRegistry)
    frame: Any = Frame()

    def rows(_spark: Any, entries: Sequence[Entry]) -> Frame:
        assert list(entries) == ENTRIES
        return frame

    def go(job: Job) -> list[Fact]:
        monkeypatch.setattr(module, "entry_rows", rows)
        frame.job = job
        return SparkRounds(frame, make_config()).run(ENTRIES, epoch=3)

    yield go
    assert frame.steps == [1], "one task, in the order of the entries"
    assert dict(accumulators._accumulatorRegistry) == before, "nothing is kept of a round"


def test_what_the_task_reports_comes_back(run: Callable[[Job], list[Fact]]) -> None:
    facts: list[Fact] = [Resolved(one.position) for one in ENTRIES]

    def job(function: Any) -> None:
        inner, _ended, _ledger = function.args
        _, reservations, accumulator, epoch = inner.args
        assert epoch == 3
        assert {
            position.offset: (reservation.attempt, reservation.reason) for position, reservation in reservations.items()
        } == {
            1: (2, "status 504"),
            2: (0, ""),
        }
        # As Spark's server does when a task has ended.
        accumulators._accumulatorRegistry[accumulator.aid] += facts

    assert run(job) == facts


@pytest.mark.parametrize("fails", [False, True])
def test_a_retried_task_is_said(
    run: Callable[[Job], list[Fact]], capsys: pytest.CaptureFixture[str], fails: bool
) -> None:
    def job(function: Any) -> None:
        _inner, ended, _ledger = function.args
        accumulators._accumulatorRegistry[ended.aid] += [EndedTask(5, 1, (OffsetsRead("source", 0, 1, 3),))]
        if fails:
            raise RuntimeError("job aborted")

    with suppress(RuntimeError):
        run(job)
    output = json.loads(capsys.readouterr().out)
    assert output == {"at": ANY, "event": "task_retried", "attempts": 1, "read": [["source", 0, 1, 3]]}


def test_a_round_without_news_reports_nothing(run: Callable[[Job], list[Fact]]) -> None:
    assert run(lambda _: None) == []


def test_what_spark_raises_is_raised(run: Callable[[Job], list[Fact]]) -> None:
    def job(_function: Any) -> None:
        raise RuntimeError("job aborted")

    with pytest.raises(RuntimeError, match="job aborted"):
        run(job)


def test_with_metrics_the_round_reports_to_its_figures(
    make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame: Any = Frame()
    measurements: Any = object()
    seen: list[Any] = []
    monkeypatch.setattr(module, "entry_rows", lambda *_: frame)
    frame.job = seen.append
    SparkRounds(frame, make_config(), measurements).run(ENTRIES, epoch=3)
    assert seen[0].func is worker_metrics._report
    assert seen[0].args[1] is measurements
