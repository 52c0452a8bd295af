"""The batch's budget: what is cut off, what is not to blame, and what waits for its turn in its page."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.batch_budget import BATCH_BUDGET, BatchBudget
from pipeline.deferral.entry import Fact, Resolved
from pipeline.deferral.snapshot import UNRESERVED
from pipeline.deferral.task import DirectTask
from pipeline.fetch.deadline import Deadline, noticed_begin
from pipeline.jobs.message import InTurn, Outcome, SourceMessage, Unfinished
from pipeline.records.error_event import Failure
from pipeline.records.record import Record
from tests.unit.pipeline.deferral.test_task import LEDGER, OUT, SLOW, Job, main_task, message, output, slow_task

Clock = Callable[[], float]


def deadline() -> Deadline:
    return Deadline(5, lambda: 0.0)


def soon(budget: BatchBudget, monkeypatch: pytest.MonkeyPatch) -> BatchBudget:
    """Every end of the budget comes at once."""
    monkeypatch.setattr(budget, "remaining_s", lambda: 0.001)
    return budget


@given(
    seconds=st.floats(0.01, 1e4),
    allowance_share=st.floats(0.001, 0.999),
    elapsed=st.floats(0, 1e5),
)
def test_a_record_has_its_allowance_and_no_more_than_a_budget_besides(
    seconds: float, allowance_share: float, elapsed: float
) -> None:
    now = [0.0]
    allowance_s = seconds * allowance_share
    budget = BatchBudget(seconds, allowance_s, lambda: now[0])
    now[0] = elapsed
    rounding = 1e-6 * (1 + elapsed)
    assert allowance_s - rounding <= budget.remaining_s() <= allowance_s + seconds + rounding


def test_what_has_begun_is_cut_off_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled: list[bool] = []

    async def process() -> Any:
        deadline().begin()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    now = [0.0]
    budget = soon(BatchBudget(300, 5, lambda: now[0]), monkeypatch)
    now[0] = 301.25
    outcome = asyncio.run(budget.within(process))
    assert isinstance(outcome, Unfinished)
    assert outcome.failure == Failure("batch_budget", "its batch was at work for 301.2 s")
    assert outcome.tried
    assert cancelled == [True]


def test_what_has_not_begun_comes_again_and_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited for its turn, for which nobody can blame it."""
    tries: list[int] = []

    async def process() -> Any:
        tries.append(len(tries))
        if len(tries) < 3:
            await asyncio.Event().wait()
        deadline().begin()
        return "record"

    assert asyncio.run(soon(BatchBudget(300, 5), monkeypatch).within(process)) == "record"
    assert tries == [0, 1, 2]


def test_a_begin_is_noticed_in_tasks_that_were_started_within() -> None:
    async def go() -> list[bool]:
        with noticed_begin() as mine:
            with noticed_begin() as inner:
                await asyncio.gather(asyncio.sleep(0), asyncio.create_task(begin()))
            deadline_before = mine.noticed
            await begin()
        await begin()
        return [deadline_before, inner.noticed, mine.noticed]

    async def begin() -> None:
        deadline().begin()

    assert asyncio.run(go()) == [False, True, True]


def test_a_time_out_of_the_job_itself_is_not_taken_for_a_cut() -> None:
    async def process() -> Any:
        raise TimeoutError("of something else")

    with pytest.raises(TimeoutError, match="something else"):
        asyncio.run(BatchBudget(300, 5).within(process))


@dataclass
class Store:
    """Something that is done once in its turn, or again."""

    done: list[int] = field(default_factory=list)
    outcome: Outcome = None

    def at(self, of: SourceMessage) -> InTurn:
        async def finish() -> Outcome:
            self.done.append(of.position.offset)
            return self.outcome or output(of)

        return InTurn(finish)


async def turn(task: Any, one: SourceMessage, outcome: Any) -> Record | None:
    record: Record | None = task.settle(one, await task.in_turn(one, outcome))
    return record


def ahead(task: Any, *messages: SourceMessage) -> list[str | None]:
    """All are processed before the first has its turn."""

    async def go() -> list[Record | None]:
        outcomes = [await task.process(one) for one in messages]
        return [await turn(task, one, outcome) for one, outcome in zip(messages, outcomes, strict=True)]

    return [record and record.topic for record in asyncio.run(go())]


@pytest.mark.parametrize("make", [main_task, lambda job: DirectTask(job, 5)], ids=["main lane", "without deferral"])
def test_nothing_is_done_before_the_turn(make: Any) -> None:
    store, one = Store(), message(1)
    task = make(Job({1: store.at(one)}))
    outcome = asyncio.run(task.process(one))
    assert store.done == []
    assert asyncio.run(turn(task, one, outcome)) == output(one)
    assert store.done == [1]


@pytest.mark.parametrize(
    ("page", "left", "done"), [("p", [LEDGER, LEDGER], []), ("other", [LEDGER, OUT], [2])], ids=["its page", "another"]
)
def test_behind_an_event_that_was_deferred_nothing_of_its_page_is_done(
    page: str, left: list[str], done: list[int]
) -> None:
    store, two = Store(), message(2, page)
    assert ahead(main_task(Job({1: SLOW, 2: store.at(two)})), message(1), two) == left
    assert store.done == done


def test_what_is_deferred_after_its_turn_is_done_again_later() -> None:
    """Its record has nowhere to go in this batch; what it did has to stand being done twice."""
    store, one = Store(outcome=SLOW), message(1)
    assert ahead(main_task(Job({1: store.at(one)})), one) == [LEDGER]
    facts: list[Fact] = []
    store.outcome = None
    task = slow_task(Job({1: store.at(one)}), {one.position: UNRESERVED}, facts)
    assert ahead(task, one) == [OUT]
    assert store.done == [1, 1]
    assert facts == [Resolved(one.position, "")]


def test_the_budget_of_a_batch_holds_in_its_turn_too() -> None:
    """What hangs there, as a store does that is down, is deferred; it made no request, and is not begun again."""
    begun: list[int] = []

    async def hang() -> Outcome:
        begun.append(1)
        await asyncio.Event().wait()
        raise AssertionError

    one = message(1)
    task = main_task(Job({1: InTurn(hang)}), budget=BatchBudget(0.05, 0.01))

    async def go() -> Any:
        async with asyncio.timeout(20):
            return await task.in_turn(one, await task.process(one))

    outcome = asyncio.run(go())
    assert isinstance(outcome, Unfinished)
    assert outcome.failure.error_type == BATCH_BUDGET
    assert begun == [1]


@pytest.mark.parametrize("make", [main_task, lambda job: DirectTask(job, 5), lambda job: slow_task(job, {}, [])])
def test_an_outcome_whose_turn_was_passed_over_is_an_error_of_the_program(make: Any) -> None:
    with pytest.raises(TypeError, match="settled before"):
        make(Job()).settle(message(1), Store().at(message(1)))
