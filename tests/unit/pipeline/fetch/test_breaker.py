"""When a wiki's breaker opens and closes, with a clock that the test moves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import Breaker
from pipeline.fetch.breaker import Answer, CircuitBreaker, Opened, Pass
from pipeline.fetch.route import Ask

WELL = Answer(failed=False)
SICK = Answer(failed=True, why="status 503")


def settings(**changed: Any) -> Breaker:
    least = {"window": "10s", "minimum_requests": 4, "trial_requests": 3, "open_for": "5s", "open_for_cap": "15s"}
    return Breaker.model_validate(least | changed)


@dataclass
class Worker:
    """A breaker and its clock."""

    now: float = 100.0
    settings: Breaker = field(default_factory=settings)
    asked: int = 0

    def __post_init__(self) -> None:
        self.breaker = CircuitBreaker("enwiki", self.settings, lambda: self.now)

    @property
    def state(self) -> str:
        return self.breaker.state

    def begin(self) -> Pass | None:
        self.asked += 1
        return self.breaker.begin(ask(self.asked))

    def begun(self, count: int) -> list[Pass]:
        """Of requests that are under way side by side."""
        passes = [self.begin() for _ in range(count)]
        return [passed for passed in passes if passed is not None]

    def end(self, passes: Iterable[Pass], answer: Answer) -> None:
        for passed in passes:
            self.breaker.end(passed, answer)

    def ask(self, *answers: Answer) -> None:
        """Requests one after the other."""
        for answer in answers:
            (passed,) = self.begun(1)
            self.breaker.end(passed, answer)

    def report(self) -> Opened:
        """What the driver is told, which it has to be."""
        report = self.breaker.opened()
        assert report is not None
        return report


def ask(number: int) -> Ask:
    return Ask(f"/{number}", f"event {number}")


def opened() -> Worker:
    worker = Worker()
    worker.ask(*[SICK] * 4)
    assert worker.state == "open"
    return worker


def test_a_few_that_are_refused_at_once_do_not_look_like_all_of_them() -> None:
    """A batch begins: many requests are under way, and only the quick refusals have been answered."""
    worker = Worker()
    passes = worker.begun(12)
    worker.end(passes[:5], SICK)
    assert worker.state == "closed", "5 of 12"
    worker.end(passes[5:6], SICK)
    assert worker.state == "open", "6 of 12"


def test_what_is_given_up_is_not_under_way() -> None:
    worker = Worker()
    passes = worker.begun(12)
    for passed in passes[:8]:
        worker.breaker.abandon(passed)
    worker.end(passes[8:10], SICK)
    worker.ask(WELL)
    assert worker.state == "closed"
    worker.end(passes[10:11], SICK)
    assert worker.state == "open", "3 of 4, and one under way"


@pytest.mark.parametrize("by_time", [True, False], ids=["time", "next task"])
def test_trials_alone_go_out_and_decide(*, by_time: bool) -> None:
    worker = opened()
    if by_time:
        worker.now += 4.9
        assert worker.begin() is None
        worker.now += 0.1
    else:
        worker.breaker.new_task()
    trials = worker.begun(5)
    assert len(trials) == 3
    worker.end(trials[:2], WELL)
    assert worker.state == "closed", "most of three went well"
    worker.ask(SICK, SICK, SICK)
    assert worker.state == "closed", "what was before it closed is forgotten"


def test_it_stays_open_for_longer_each_time_up_to_the_cap() -> None:
    worker = opened()
    for remaining_s in (5, 10, 15, 15):
        worker.now += remaining_s - 0.1
        assert worker.state == "open"
        worker.now += 0.1
        worker.ask(SICK, SICK)
        assert worker.state == "open"
    worker.breaker.new_task()
    worker.ask(WELL, WELL)
    worker.ask(*[SICK] * 4)
    worker.now += 5
    assert worker.state == "half-open", "it begins anew when it was well"


def test_a_trial_that_says_nothing_leaves_its_place_to_another() -> None:
    worker = opened()
    worker.breaker.new_task()
    trials = worker.begun(3)
    assert not worker.breaker.may_begin
    worker.breaker.abandon(trials[0])
    assert worker.begin() is not None


def test_what_began_before_it_opened_is_no_trial() -> None:
    worker = Worker()
    late = worker.begun(6)
    worker.end(late[:4], SICK)
    worker.breaker.new_task()
    worker.end(late[4:], SICK)
    assert worker.state == "half-open"
    old = worker.begun(1)
    worker.ask(SICK, SICK)
    assert worker.state == "open"
    worker.breaker.new_task()
    worker.end(old, SICK)
    worker.ask(SICK)
    assert worker.state == "half-open", "one of this time, not two"


@pytest.mark.parametrize(("asked_s", "remaining_s"), [(8.0, 8.0), (2.0, 5.0), (1e6, 15.0)])
def test_what_the_upstream_asks_for_is_obeyed_as_far_as_the_cap_goes(asked_s: float, remaining_s: float) -> None:
    worker = Worker()
    worker.ask(SICK, SICK, Answer(failed=True, retry_after_s=asked_s), SICK)
    assert worker.report().retry_after_s == min(asked_s, 15.0)
    worker.now += remaining_s - 0.1
    assert worker.state == "open"
    worker.now += 0.1
    assert worker.state == "half-open"


def test_the_driver_is_told_what_failed_last_and_what_went_well() -> None:
    worker = Worker(settings=settings(minimum_requests=6))
    worker.ask(WELL, SICK, SICK, SICK, SICK)
    assert worker.breaker.opened() is None
    worker.ask(Answer(failed=True, why="no answer"))
    report = worker.report()
    assert (report.scope, report.requests, report.failed, report.why) == ("enwiki", 6, 5, "no answer")
    assert (report.asks, report.succeeded) == ((ask(6), ask(5), ask(4)), ask(1))


def test_a_path_that_fails_again_is_the_newest_with_its_newest_request() -> None:
    worker = Worker(settings=settings(minimum_requests=5))
    for number, path in enumerate(("/1", "/2", "/3", "/1", "/4")):
        passed = worker.breaker.begin(Ask(path, f"event {number}"))
        assert passed is not None
        worker.breaker.end(passed, SICK)
    assert worker.report().asks == (Ask("/4", "event 4"), Ask("/1", "event 3"), Ask("/3", "event 2"))


def test_the_driver_is_told_once_and_not_of_what_went_well_since() -> None:
    worker = opened()
    worker.now += 60
    assert worker.breaker.opened() is not None, "its time is over, and nothing has gone well"
    worker.breaker.new_task()
    assert worker.breaker.opened() is None
    worker.ask(SICK, SICK)
    assert worker.breaker.opened() is not None
    worker.now += 60
    worker.ask(WELL)
    assert worker.breaker.opened() is None


STEPS = st.lists(st.tuples(st.sampled_from([0.0, 0.3, 2.0, 9.9, 11.0]), st.booleans()), max_size=60)


@given(STEPS, st.integers(1, 8), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_the_window_is_that_of_its_definition(steps: Sequence[tuple[float, bool]], minimum: int, rate: float) -> None:
    """Against a list of all requests: it is open as soon as the last 10 s say so, and never sooner."""
    worker = Worker(settings=settings(minimum_requests=minimum, failure_rate=rate))
    ended: list[tuple[float, bool]] = []
    for seconds, failed in steps:
        worker.now += seconds
        worker.ask(SICK if failed else WELL)
        ended.append((worker.now, failed))
        recent = [was for at, was in ended if at >= worker.now - 10]
        over = len(recent) >= minimum and sum(recent) >= rate * len(recent)
        assert (worker.state == "open") == over
        if over:
            break


@given(
    st.lists(
        st.one_of(
            st.floats(0, 20),
            st.sampled_from(["begin", "task"]),
            st.tuples(st.integers(0, 9), st.sampled_from(["well", "sick", "nothing"])),
        ),
        max_size=120,
    )
)
def test_an_open_wiki_gets_no_request_and_a_half_open_one_its_trials(steps: list[Any]) -> None:
    """Whatever begins and ends in whatever order. Each time of being open is followed by no more than three."""
    worker = Worker()
    under_way: list[Pass] = []
    trials = 0
    for step in steps:
        before = worker.state
        if isinstance(step, float):
            worker.now += step
        elif step == "task":
            worker.breaker.new_task()
        elif step == "begin":
            passed = worker.begin()
            assert (passed is not None) <= (before != "open")
            if passed:
                under_way.append(passed)
                trials += before == "half-open"
        elif under_way:
            index, how = step
            passed = under_way.pop(index % len(under_way))
            if how == "nothing":
                worker.breaker.abandon(passed)
                trials -= passed.trial is not None and trials > 0
            else:
                worker.breaker.end(passed, WELL if how == "well" else SICK)
        if worker.state != "half-open":
            trials = 0
        assert trials <= 3
