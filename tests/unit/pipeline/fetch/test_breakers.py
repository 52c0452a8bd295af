"""Breakers in a worker: who waits for whom, and what the driver gets."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import Breaker
from pipeline.fetch.breaker import ENDPOINT, Answer, Opened
from pipeline.fetch.breakers import BreakerOpenError, Breakers, Permit, of_process, reporting_breakers
from pipeline.fetch.route import Ask

WELL = Answer(failed=False)
SICK = Answer(failed=True, why="status 503")
SETTINGS = Breaker.model_validate({"minimum_requests": 2, "trial_requests": 1})
ASK = Ask("/1", "event")


def begun(breakers: Breakers, wiki: str = "enwiki") -> Permit:
    passed = breakers.begin(wiki, replace(ASK, wiki_id=wiki))
    assert passed is not None
    return passed


def make(*answers: Answer) -> Breakers:
    breakers = Breakers(SETTINGS, lambda: 0.0)
    for answer in answers:
        breakers.end("enwiki", begun(breakers), answer)
    return breakers


def during_a_trial() -> tuple[Breakers, Permit]:
    breakers = make(SICK, SICK)
    breakers.new_task()
    return breakers, begun(breakers)


def test_an_open_wiki_is_refused_and_others_are_not() -> None:
    breakers = make(SICK, SICK)
    with pytest.raises(BreakerOpenError, match="enwiki"):
        asyncio.run(breakers.acquire_permission("enwiki"))
    assert breakers.begin("enwiki", ASK) is None
    asyncio.run(breakers.acquire_permission("dewiki"))
    assert [one.scope for one in breakers.opened()] == ["enwiki"]


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
        breakers, trial = during_a_trial()
        waiting = [asyncio.create_task(breakers.acquire_permission("enwiki")) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        breakers.end("enwiki", trial, answer)
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [isinstance(result, BreakerOpenError) for result in results] == [refused] * 3

    asyncio.run(steps())


def test_who_waits_may_be_cancelled() -> None:
    async def steps() -> None:
        breakers, trial = during_a_trial()
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
    (opened,) = facts.added
    assert [(type(one), one.scope) for one in opened] == [(Opened, "enwiki")]
    batch: Any = object()
    assert list(reporting_breakers(task, settings, facts)(iter([batch, batch]))) == [batch, batch]
    assert states == [True, False], "one trial, of which nothing is known yet"
    assert len(facts.added) == 1


def test_they_outlive_the_batch_by_their_settings() -> None:
    settings = Breaker.model_validate({"window": "78s"})
    assert of_process(settings) is of_process(Breaker.model_validate({"window": "78s"}))
    assert of_process(settings) is not of_process(Breaker.model_validate({"window": "79s"}))


# --- the endpoint

MANY = Breaker.model_validate({"minimum_requests": 20, "minimum_wikis": 5, "trial_requests": 3, "window": "30s"})


class Worker:
    """Breakers and their clock."""

    def __init__(self, settings: Breaker = MANY) -> None:
        self.now = 100.0
        self.breakers = Breakers(settings, lambda: self.now)

    def ask(self, wiki: str, answer: Answer) -> bool:
        """Whether the request was permitted."""
        permit = self.breakers.begin(wiki, Ask(f"/{wiki}", wiki, wiki_id=wiki))
        if permit is not None:
            self.breakers.end(wiki, permit, answer)
        return permit is not None

    def opened(self) -> dict[str | None, Opened]:
        return {one.scope: one for one in self.breakers.opened()}


def half_open() -> Worker:
    """Whose endpoint has failed for many small wikis, at the beginning of a task."""
    worker = Worker()
    for number in range(20):
        worker.ask(small(number), SICK)
    worker.breakers.new_task()
    return worker


def small(number: int) -> str:
    return f"wiki{number}"


def test_many_small_wikis_behind_what_is_down_open_the_endpoint() -> None:
    """None of 900 wikis has requests enough for a breaker of its own; 24,000 of 24,000 requests failed before."""
    worker = Worker()
    asked = sum(worker.ask(small(number % 900), SICK) for number in range(24_000))
    assert asked == MANY.minimum_requests
    (opened,) = worker.breakers.opened()
    assert (opened.scope, opened.requests, opened.failed, opened.wikis) == (ENDPOINT, 20, 20, 20)
    assert len({one.wiki_id for one in opened.asks}) == 3, "probes ask different wikis"
    with pytest.raises(BreakerOpenError, match="the breaker of the endpoint is open"):
        asyncio.run(worker.breakers.acquire_permission("enwiki"))
    assert not worker.breakers.is_closed("enwiki")


@pytest.mark.parametrize(("dead", "opens"), [(4, False), (5, True)])
def test_a_few_wikis_are_not_the_endpoint(*, dead: int, opens: bool) -> None:
    worker = Worker(MANY.model_copy(update={"minimum_requests": 1000, "failure_rate": 0.01}))
    for number in range(1000):
        worker.ask(small(number % dead), SICK)
    assert (ENDPOINT in worker.opened()) == opens


def test_most_requests_have_to_fail() -> None:
    worker = Worker()
    for number in range(2000):
        worker.now += 0.1
        worker.ask("enwiki", WELL)
        worker.ask("enwiki", WELL)
        assert worker.ask(small(number % 900), SICK)
    assert worker.opened() == {}


def test_what_a_wiki_met_before_its_own_breaker_opened_says_nothing_of_the_endpoint() -> None:
    worker = Worker()
    for number in range(3):
        worker.ask(small(number), SICK)
    for _ in range(19):
        worker.ask("enwiki", WELL)
        worker.ask("dewiki", SICK)
    assert worker.opened() == {}, "4 wikis"
    worker.ask("dewiki", SICK)
    for number in (3, 4):
        worker.ask(small(number), SICK)
    assert set(worker.opened()) == {"dewiki"}, "5 of 24 without those of dewiki"


def test_a_wiki_that_is_down_decides_no_trial_of_the_endpoint_alone() -> None:
    worker = half_open()
    for _ in range(10):
        assert worker.ask(small(0), SICK)
    assert worker.ask("enwiki", WELL)
    assert worker.ask("dewiki", WELL)
    assert worker.breakers.is_closed("enwiki"), "2 of 3 trials went well"


def test_the_endpoint_half_open_lets_its_trials_go_first() -> None:
    worker = half_open()
    permits = [worker.breakers.begin(small(number), ASK) for number in range(5)]
    assert [permit is not None for permit in permits] == [True, True, True, False, False]


def test_who_waits_for_the_endpoints_trials_is_woken_by_any_wiki() -> None:
    async def steps() -> None:
        worker = half_open()
        trials = [begun(worker.breakers, small(number)) for number in range(3)]
        waiting = asyncio.create_task(worker.breakers.acquire_permission("enwiki"))
        await asyncio.sleep(0)
        for number, trial in enumerate(trials[:2]):
            assert not waiting.done()
            worker.breakers.end(small(number), trial, WELL)
        await waiting

    asyncio.run(steps())


def test_what_the_driver_knows_to_be_open_is_refused_for_the_whole_task() -> None:
    worker = Worker()
    for _ in range(20):
        worker.ask("dewiki", SICK)
    worker.breakers.new_task(frozenset({"dewiki", "frwiki"}))
    worker.now += 1000
    for wiki in ("dewiki", "frwiki"):
        assert not worker.ask(wiki, WELL)
        assert not worker.breakers.is_closed(wiki)
        with pytest.raises(BreakerOpenError, match=wiki):
            asyncio.run(worker.breakers.acquire_permission(wiki))
    assert worker.ask("enwiki", WELL)
    assert worker.opened() == {}, "the driver knows it already"
    worker.breakers.new_task()
    assert worker.ask("dewiki", WELL)
    assert worker.ask("frwiki", WELL)


def test_a_wiki_that_is_asked_no_more_takes_no_memory() -> None:
    worker = Worker()
    for number in range(10_000):
        worker.now += 0.01
        worker.ask(small(number), WELL)
    for _ in range(20):
        worker.ask("dewiki", SICK)
    worker.now += 31
    worker.ask("enwiki", WELL)
    worker.breakers.new_task(frozenset({"dewiki"}))
    assert set(worker.breakers._wikis) == {"enwiki", "dewiki"}
    assert worker.breakers._window is not None
    assert set(worker.breakers._window._wikis) == {"enwiki"}


HEALTHY = ("enwiki", "frwiki", "swwiki")
DOWN = ("dewiki", "itwiki", "nlwiki", "ptwiki")
MOVES = st.lists(
    st.one_of(st.sampled_from([0.1, 3.0, 40.0]), st.just("task"), st.sampled_from(HEALTHY), st.sampled_from(DOWN)),
    max_size=200,
)


@given(MOVES)
def test_a_healthy_wiki_is_never_refused_while_only_others_are_down(moves: list[Any]) -> None:
    """Some wikis are down, fewer than `minimum_wikis`: whatever is asked when, the others are asked on."""
    eager = {"minimum_requests": 3, "failure_rate": 0.2, "minimum_wikis": len(DOWN) + 1, "trial_requests": 2}
    worker = Worker(Breaker.model_validate(eager))
    known: set[str | None] = set()
    for move in moves:
        if isinstance(move, float):
            worker.now += move
        elif move == "task":
            known |= set(worker.opened())
            worker.breakers.new_task(frozenset(wiki for wiki in known if wiki))
        elif move in DOWN:
            assert not (worker.ask(move, SICK) and move in known)
        else:
            assert worker.ask(move, WELL)
            assert worker.breakers.is_closed(move)
    assert ENDPOINT not in worker.opened()


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 11.0]), st.integers(0, 6), st.booleans()), max_size=80))
def test_the_endpoints_window_is_that_of_its_definition(steps: list[tuple[float, int, bool]]) -> None:
    """Against a list of all requests, with wikis too small for breakers of their own."""
    settings = Breaker.model_validate({"minimum_requests": 8, "minimum_wikis": 3, "window": "10s"})
    worker = Worker(settings)
    ended: list[tuple[float, str, bool]] = []
    for seconds, number, failed in steps:
        worker.now += seconds
        if not worker.ask(small(number), SICK if failed else WELL):
            assert not worker.breakers.is_closed(small(number))
            break
        ended.append((worker.now, small(number), failed))
        recent = [(wiki, was) for at, wiki, was in ended if at >= worker.now - 10]
        by_wiki = Counter(wiki for wiki, _ in recent)
        failing = Counter(wiki for wiki, was in recent if was)
        if any(by_wiki[wiki] >= 8 and failing[wiki] >= by_wiki[wiki] / 2 for wiki in by_wiki):
            break
        over = len(recent) >= 8 and failing.total() >= len(recent) / 2 and len(failing) >= 3
        assert (ENDPOINT in worker.opened()) == over
        if over:
            break
