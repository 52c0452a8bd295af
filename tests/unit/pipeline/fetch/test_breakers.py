"""Breakers in a worker: who waits for whom, and what the driver gets."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from pipeline.config import Breaker
from pipeline.fetch.breaker import Answer, Ask, Opened, Pass
from pipeline.fetch.breakers import BreakerOpenError, Breakers, of_process, reporting_breakers

WELL = Answer(failed=False)
SICK = Answer(failed=True, why="status 503")
SETTINGS = Breaker.model_validate({"minimum_requests": 2, "trial_requests": 1})
ASK = Ask("/1", "event")


def begun(breakers: Breakers, wiki: str = "enwiki") -> Pass:
    passed = breakers.begin(wiki, ASK)
    assert passed is not None
    return passed


def make(*answers: Answer) -> Breakers:
    breakers = Breakers(SETTINGS, lambda: 0.0)
    for answer in answers:
        breakers.end("enwiki", begun(breakers), answer)
    return breakers


def test_an_open_wiki_is_refused_and_others_are_not() -> None:
    breakers = make(SICK, SICK)
    with pytest.raises(BreakerOpenError, match="enwiki"):
        asyncio.run(breakers.acquire_permission("enwiki"))
    assert breakers.begin("enwiki", ASK) is None
    asyncio.run(breakers.acquire_permission("dewiki"))
    assert [one.wiki_id for one in breakers.opened()] == ["enwiki"]


@pytest.mark.parametrize("settings", [None, Breaker(policy="none", minimum_requests=1)])
def test_without_a_breaker_everybody_has_leave(settings: Breaker | None) -> None:
    breakers = Breakers(settings, lambda: 0.0)
    for _ in range(50):
        breakers.end("enwiki", begun(breakers), SICK)
    asyncio.run(breakers.acquire_permission("enwiki"))
    assert breakers.opened() == []


@pytest.mark.parametrize(("answer", "refused"), [(WELL, False), (SICK, True), (None, False)])
def test_who_comes_during_a_trial_waits_for_its_end(answer: Answer | None, *, refused: bool) -> None:
    """One that says nothing leaves its place to the first who waits."""

    async def steps() -> None:
        breakers = make(SICK, SICK)
        breakers.new_task()
        trial = begun(breakers)
        waiting = [asyncio.create_task(breakers.acquire_permission("enwiki")) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        breakers.end("enwiki", trial, answer)
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [isinstance(result, BreakerOpenError) for result in results] == [refused] * 3

    asyncio.run(steps())


def test_who_waits_may_be_cancelled() -> None:
    async def steps() -> None:
        breakers = make(SICK, SICK)
        breakers.new_task()
        trial = begun(breakers)
        waiting = asyncio.create_task(breakers.acquire_permission("enwiki"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        breakers.end("enwiki", trial, WELL)
        await breakers.acquire_permission("enwiki")

    asyncio.run(steps())


class Facts:
    def __init__(self) -> None:
        self.added: list[Any] = []

    def add(self, facts: list[Any]) -> None:
        self.added.append(facts)


def test_a_task_begins_with_trials_and_tells_what_opened_in_it() -> None:
    facts: Any = Facts()
    settings = Breaker.model_validate({"minimum_requests": 2, "trial_requests": 1, "window": "77s"})
    breakers = of_process(settings)
    states: list[bool] = []

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            states.append(breakers.begin("enwiki", ASK) is not None)
            yield batch

    def sick_task(_batches: Iterator[Any]) -> Iterator[Any]:
        for _ in range(2):
            breakers.end("enwiki", begun(breakers), SICK)
        yield from ()

    list(reporting_breakers(sick_task, settings, facts)(iter([])))
    (told,) = facts.added
    assert [(type(one), one.wiki_id) for one in told] == [(Opened, "enwiki")]
    batch: Any = object()
    assert list(reporting_breakers(task, settings, facts)(iter([batch, batch]))) == [batch, batch]
    assert states == [True, False], "one trial, of which nothing is known yet"
    assert len(facts.added) == 1


def test_they_outlive_the_batch_by_their_settings() -> None:
    settings = Breaker.model_validate({"window": "78s"})
    assert of_process(settings) is of_process(Breaker.model_validate({"window": "78s"}))
    assert of_process(settings) is not of_process(Breaker.model_validate({"window": "79s"}))
