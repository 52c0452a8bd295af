"""That an arm whose conditions never come ends at its deadline, by a clock that the test moves."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.debug.debugger import Debugger
from devkit.observe.arm_end import ArmEnd, EndByDeadline
from devkit.observe.deferrals import Deferrals
from devkit.observe.sampler import Sampler, Topics
from devkit.observe.usage import TreeUsage
from devkit.scenario import play as play_module
from devkit.scenario.supervisor import Supervisor
from devkit.stack.stack import Stack
from devkit.stack.topics import TopicEnds
from devkit.traffic.publish import Publisher
from tests.unit.devkit.scenario.stage import ERROR, OUTPUT, SOURCE, Stage

LONG_S = 1_000.0
Watch = Callable[[], ArmEnd]


class StillGoesOn(Exception):  # noqa: N818 - what a test may expect
    """A thousand seconds have passed, and the arm has not ended."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Seconds that pass while the arm sleeps, and only then."""
    clock = SimpleNamespace(now=0.0)

    def sleep(seconds: float) -> None:
        clock.now += seconds
        if clock.now > LONG_S:
            raise StillGoesOn

    monkeypatch.setattr(play_module, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
    return clock


@pytest.fixture
def watch(stage: Stage, clock: SimpleNamespace) -> Watch:
    """Watches an arm, begun now, in which nothing happens."""
    stage.play._venue = replace(stage.play._venue, stack=cast(Stack, SimpleNamespace(require_running=lambda: None)))
    stage.play._started = clock.now
    sampler = Sampler(
        counts=lambda: stage.counts,
        topics=Topics(SOURCE, OUTPUT, ERROR),
        ends=cast(TopicEnds, SimpleNamespace(of=lambda _: {0: 161})),
        checkpoint=stage.play._checkpoint,
        deferrals=cast(Deferrals, SimpleNamespace(catch_up=lambda: 0)),
        usage=TreeUsage(list),
        clock=lambda: clock.now,
    )
    supervisor = cast(Supervisor, SimpleNamespace(poll=lambda: (), restarts=0))
    publisher = cast(Publisher, SimpleNamespace(start=lambda: None, error=None, done=False, published=0))
    return lambda: stage.play._watch(supervisor, publisher, sampler)


def test_it_ends_at_its_deadline_and_says_so(watch: Watch, clock: SimpleNamespace) -> None:
    assert watch() == EndByDeadline(deadline_s=90)
    assert 90 < clock.now < 91


def test_its_deadline_counts_from_when_the_arm_began(watch: Watch, stage: Stage, clock: SimpleNamespace) -> None:
    """What is done before its program is watched is the arm's time too."""
    clock.now += 50
    assert watch() == EndByDeadline(deadline_s=90)
    assert 90 < clock.now < 91


def test_one_that_is_debugged_has_none(watch: Watch, stage: Stage) -> None:
    debugger = cast(Debugger, SimpleNamespace(invitation=lambda: "attach"))
    stage.play._venue = replace(stage.play._venue, debugger=debugger)
    with pytest.raises(StillGoesOn):
        watch()
