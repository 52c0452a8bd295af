from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.observe.arm_observation import RuleSwitch
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.log import ArmLog
from devkit.play.arm.rule_switches import RuleSwitches
from devkit.scenario.rule_window import ScenarioRule
from devkit.stack.parts.mock_api import MockSilentError
from devkit.waiting import wait_until

DEADLINE = timedelta(seconds=30)


class Played:
    """An arm whose traffic the test publishes, and a mock that notes what is switched."""

    def __init__(self, *rules: dict[str, Any], events: int = 100) -> None:
        self.published, self.switched = 0, list[tuple[str, bool]]()
        self.fails: Callable[[], None] = lambda: None
        self.lines: list[str] = []
        log = SimpleNamespace(add=lambda event: None, say=lambda phase, text: self.lines.append(text))
        each = [ScenarioRule.model_validate({"do": {"latency": "1s"}, **rule}) for rule in rules]
        clock = ArmClock(lambda: 7.0)
        clock._began = 2.5
        self.switches = RuleSwitches(each, self._switch, lambda: self.published, events, clock, cast(ArmLog, log))

    def _switch(self, name: str, on: bool) -> None:
        self.fails()
        self.switched.append((name, on))

    def until(self, published: int, *switched: tuple[str, bool]) -> None:
        """Publishes up to this number, and waits for what has to be switched then."""
        self.published = published
        wait_until(lambda: self.switched == list(switched), what=f"{switched}", deadline=DEADLINE)


@pytest.fixture
def two() -> Played:
    return Played(
        {"name": "slow", "from": {"share": "30%"}, "until": {"share": "60%"}},
        {"name": "gone", "until": {"share": "45%"}},
    )


def test_each_is_switched_when_its_share_is_out(two: Played) -> None:
    two.switches.begin()
    two.until(29)
    two.until(30, ("slow", True))
    two.until(50, ("slow", True), ("gone", False))
    two.until(99, ("slow", True), ("gone", False), ("slow", False))
    two.switches.end()
    two.switches.look()
    assert two.switches.done["slow"] == (
        RuleSwitch(on=True, at_s=4.5, published=30),
        RuleSwitch(on=False, at_s=4.5, published=99),
    )
    assert two.lines[0] == "slow is switched on: 30 of 100 events are out"


def test_what_is_due_at_once_is_switched_in_its_order(two: Played) -> None:
    two.published = 100
    two.switches.begin()
    two.until(100, ("slow", True), ("gone", False), ("slow", False))
    two.switches.end()


def test_what_did_not_come_is_not_switched(two: Played) -> None:
    two.switches.begin()
    two.until(40, ("slow", True))
    two.switches.end()
    two.published = 100
    assert two.switched == [("slow", True)]
    assert "gone" not in two.switches.done


def test_a_silent_mock_is_asked_again(two: Played) -> None:
    failures = [MockSilentError("it stands still")]

    def once() -> None:
        if failures:
            raise failures.pop()

    two.fails = once
    two.switches.begin()
    two.until(30, ("slow", True))
    two.switches.end()
    two.switches.look()


def test_a_refusal_ends_the_run(two: Played) -> None:
    def refused() -> None:
        raise StackError("404")

    two.fails = refused
    two.published = 100
    two.switches.begin()

    def raised() -> bool:
        try:
            two.switches.look()
        except StackError:
            return True
        return False

    wait_until(raised, what="the refusal", deadline=DEADLINE)
    two.switches.end()
    assert two.switched == []


def test_without_such_a_rule_there_is_nothing_to_do() -> None:
    played = Played({"name": "slow"})
    played.switches.begin()
    played.switches.end()
    played.switches.look()
    assert played.switches.done == {}
