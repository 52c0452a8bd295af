"""The batch's budget: what is cut off, and what is not to blame."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.batch_budget import BatchBudget
from pipeline.fetch.deadline import Deadline, noticed_begin
from pipeline.jobs.message import Unfinished
from pipeline.records.error_event import Failure

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
