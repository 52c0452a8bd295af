"""Rules that act for a part of the traffic: what can be said of one, and what the mock gets of it."""

from typing import Any

import pytest

from devkit.headroom.stretched_model import stretched
from devkit.scenario.rule_window import ScenarioRule, TrafficShare
from devkit.stack.parts.mock_api import MockApi
from tests.unit.devkit.conftest import Load

SLOW: dict[str, Any] = {"name": "slow", "do": {"latency": "2s"}}
RULE = "    - name: huge page\n"


def rule(**more: Any) -> ScenarioRule:
    return ScenarioRule.model_validate(SLOW | more)


@pytest.mark.parametrize(("share", "events", "count"), [("30%", 10, 3), ("30%", 11, 4), ("100%", 7, 7), ("1%", 3, 1)])
def test_a_share_is_reached_with_a_number_of_events(share: str, events: int, count: int) -> None:
    assert TrafficShare.model_validate({"share": share}).count(events) == count


def test_it_is_off_until_its_part_begins() -> None:
    assert [rule(**one).at_the_start().enabled for one in ({}, {"until": {"share": "60%"}})] == [True, True]
    assert not rule(**{"from": {"share": "30%"}}).at_the_start().enabled


def test_the_mock_gets_the_rule_and_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(MockApi, "_call", lambda self, method, path, json: sent.append(json))
    windowed = rule(**{"from": {"share": "30%"}, "until": {"share": "60%"}})
    MockApi("http://127.0.0.1:1").populate(seed=1, catalog=[], rules=[windowed.at_the_start()])
    assert sent[0]["rules"] == [{"name": "slow", "do": {"latency": {"fixed": "2s"}}, "enabled": False}]


def test_a_stretched_run_has_the_same_shares() -> None:
    slower = stretched(rule(**{"from": {"share": "30%"}}), 3)
    assert slower.from_ == TrafficShare(share=0.3)
    assert slower.do != rule().do


def test_an_expectation_can_choose_its_time(load: Load) -> None:
    window = (RULE, RULE + "      from: { share: 30% }\n")
    during = ("    - restarts: { at_least: 2 }\n", "    - lag: { during: huge page, of: highest, at_least: 2 }\n")
    assert load(window, during).mock.rules[0].has_window
