"""Which attempt of a task a worker runs, with PySpark's own context."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import TaskContext

from pipeline.events import OffsetsRead, TaskRetried
from pipeline.worker.task_attempt import EndedTask, reporting_attempts, retried, task_attempt
from pipeline.worker.task_results import ListParam


class Ended:
    """Takes the place of Spark's accumulator."""

    def __init__(self) -> None:
        self.tasks: list[EndedTask] = []

    def add(self, tasks: list[EndedTask]) -> None:
        self.tasks += tasks


@pytest.fixture
def run_as() -> Iterator[Callable[[int], None]]:
    """The worker runs attempt 17, before which so many of its task were begun."""

    def run(before: int) -> None:
        context: Any = TaskContext._getOrCreate()
        context._taskAttemptId, context._attemptNumber = 17, before

    yield run
    TaskContext._setTaskContext(None)


def batch(*positions: tuple[str, int, int]) -> pa.RecordBatch:
    columns = zip(*positions, strict=True)
    return pa.RecordBatch.from_pydict(dict(zip(("topic", "partition", "offset"), columns, strict=True)))


def ended(*batches: pa.RecordBatch) -> Sequence[EndedTask]:
    accumulator: Any = Ended()
    assert list(reporting_attempts(lambda given: given, accumulator)(iter(batches))) == list(batches)
    tasks: list[EndedTask] = accumulator.tasks
    return tasks


def test_the_attempt_is_that_of_the_task_a_worker_runs(run_as: Callable[[int], None]) -> None:
    run_as(0)
    assert task_attempt() == 17


def test_outside_of_a_task_there_is_none() -> None:
    assert task_attempt() == -1
    assert ended() == [EndedTask(-1)]


def test_it_is_reported_at_the_tasks_end(run_as: Callable[[int], None]) -> None:
    run_as(0)
    accumulator: Any = Ended()
    batches: Any = iter(["a", "b"])
    results = reporting_attempts(lambda given: given, accumulator)(batches)
    assert next(results) == "a"
    assert accumulator.tasks == []
    assert list(results) == ["b"]
    assert accumulator.tasks == [EndedTask(17)], "of a first attempt nothing was emitted before"


def test_it_counts_what_it_defers(run_as: Callable[[int], None]) -> None:
    run_as(0)
    accumulator: Any = Ended()
    records = [pa.RecordBatch.from_pydict({"topic": topics}) for topics in (["out", "ledger"], ["ledger", "error"])]
    given: Any = iter(())
    assert list(reporting_attempts(lambda _: iter(records), accumulator, ledger="ledger")(given)) == records
    assert accumulator.tasks == [EndedTask(17, deferred=2)]


def test_a_later_attempt_says_what_it_has_read(run_as: Callable[[int], None]) -> None:
    run_as(2)
    read = [
        batch(("one", 0, 7), ("one", 0, 8), ("two", 0, 3)),
        # A gap, another partition, an entry of the ledger from far before, and one event twice.
        batch(("one", 0, 9), ("one", 0, 12), ("one", 1, 13), ("two", 0, 1), ("two", 0, 1), ("two", 0, 2)),
    ]
    ranges = (
        OffsetsRead("one", 0, 7, 10),
        OffsetsRead("one", 0, 12, 13),
        OffsetsRead("one", 1, 13, 14),
        OffsetsRead("two", 0, 3, 4),
        OffsetsRead("two", 0, 1, 3),
    )
    assert ended(*read) == [EndedTask(17, 2, ranges)]


def test_only_tasks_that_ended_by_a_later_attempt_were_retried() -> None:
    ranges = (OffsetsRead("one", 0, 7, 10),)
    assert list(retried([EndedTask(3), EndedTask(5, 1, ranges), EndedTask(4)], 9)) == [
        TaskRetried(batch=9, attempts=1, read=ranges)
    ]
    assert list(retried([EndedTask(5, 2, ranges)], None)) == [TaskRetried(attempts=2, read=ranges)]


@given(st.lists(st.lists(st.integers(), max_size=3), max_size=4))
def test_parts_add_up_in_any_grouping(parts: list[list[int]]) -> None:
    """Spark adds what a task tells one by one, and then what each task brings."""
    param = ListParam[int]()
    one_by_one = param.zero([])
    for part in parts:
        for item in part:
            one_by_one = param.addInPlace(one_by_one, [item])
    by_part = param.zero([99])
    for part in parts:
        by_part = param.addInPlace(by_part, part)
    assert one_by_one == by_part == [item for part in parts for item in part]


def test_a_task_begins_with_nothing_and_shares_nothing() -> None:
    param = ListParam[str]()
    before = ["of the driver"]
    mine, other = param.zero(before), param.zero(before)
    param.addInPlace(mine, ["told"])
    assert (mine, other, before) == (["told"], [], ["of the driver"])
