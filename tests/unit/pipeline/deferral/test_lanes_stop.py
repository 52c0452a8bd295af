"""A stop asks the lanes what is under way; it does not wait with them for brokers that are gone."""

import threading
from typing import Any

import pytest

from tests.unit.pipeline.deferral.lanes_bench import HANG_S, MakeDriver
from tests.unit.pipeline.deferral.making import entry


def test_what_is_under_way_is_told_while_the_brokers_do_not_answer(
    driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set-up: the lane looks for operators' commands, with its lock, and is not answered."""
    ours = driver(entry(1, stuck=True))
    ours.look()
    asked, answer = threading.Event(), threading.Event()
    read = ours.topic.read

    def unanswered(*arguments: Any, **named: Any) -> Any:
        asked.set()
        assert answer.wait(2 * HANG_S)
        return read(*arguments, **named)

    monkeypatch.setattr(ours.topic, "read", unanswered)
    lane = threading.Thread(target=lambda: ours.look(after_s=10))
    lane.start()
    assert asked.wait(HANG_S)
    found: list[int] = []

    def stop() -> None:
        ours.lanes.stop()
        found.append(ours.lanes.rounds)

    stopping = threading.Thread(target=stop)
    stopping.start()
    try:
        stopping.join(HANG_S)
        assert found == [1]
    finally:
        answer.set()
        ours.rounds.go.set()
        lane.join(HANG_S)
        stopping.join(HANG_S)


def test_after_a_stop_no_round_begins_that_was_not_counted(driver: MakeDriver) -> None:
    ours = driver(entry(1, stuck=True), entry(2, "q", stuck=True), slow_lane={"rounds": 2, "pages": 1})
    ours.lanes.stop()
    ours.look()
    assert ours.lanes.rounds == 0
    assert ours.rounds.began == []


def test_a_look_that_finds_nothing_due_leaves_no_round_behind(driver: MakeDriver) -> None:
    ours = driver()
    ours.look()
    assert ours.lanes.rounds == 0
