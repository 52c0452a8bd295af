"""A kind of program is added by another package, in one file, and a scenario is played with it."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import InvalidFileError, StackError
from devkit.guardian import Guardian
from devkit.observe.arm_end import EndByCondition
from devkit.observe.kafka.deferrals import NoDeferrals
from devkit.play.arm import prepare as prepare_module
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.prepare import prepare
from devkit.play.arm.start import start
from devkit.play.arm.watch import watch
from devkit.programs import registry
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.stack.stack import Stack
from devkit.traffic.publish import Publisher
from tests.unit.devkit.play.arm.stage import Stage, set_up
from tests.unit.devkit.programs.elsewhere import SOURCE
from tests.unit.devkit.programs.file_guardian import FileGuardian

TEXT = """
name: counted
title: A program that the kit does not know
incident: { reference: none }
traffic: { seed: 3, rate: 10/s, for: 1s }
programs: { mine: { run: tally python tally.py } }
until: { any: [{ drained: true }, { restarts: 2 }], deadline: 20s }
cause: [{ differs: every }]
arms: { incident: { every: 7 }, fixed: {} }
expect: { incident: [{ restarts: 0 }], fixed: [{ drained: true }] }
"""


@pytest.fixture(autouse=True)
def _tally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is there; what it registered is gone after the test."""
    monkeypatch.setattr(registry.KINDS, "_by_name", dict(registry.KINDS))
    (tmp_path / "elsewhere_programs.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    __import__("elsewhere_programs")
    yield
    del sys.modules["elsewhere_programs"]


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Scenario]:
    def load(*changes: tuple[str, str]) -> Scenario:
        text = TEXT
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / "counted.yaml"
        path.write_text(text)
        return load_scenario(path)

    return load


def test_a_file_names_it_and_is_held_to_its_configuration(load: Callable[..., Scenario]) -> None:
    scenario = load()
    assert resolve(scenario).difference == {"every": {"incident": 7, "fixed": 10}}
    assert "tally.source" in resolve(scenario, registry.find_program("tally x")).topics_made_afresh(("fixed",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("every: 7", "evry: 7"), "arms.incident.evry: unknown key; did you mean 'every'?"),
        (("every: 7", "broker: x"), "arms.incident.broker: is given by the stack"),
        (("run: tally", "run: taly"), "no kind of program 'taly'; did you mean 'tally'?"),
    ],
)
def test_what_it_does_not_take(load: Callable[..., Scenario], change: tuple[str, str], message: str) -> None:
    with pytest.raises(InvalidFileError) as refused:
        load(change)
    assert message in str(refused.value)


class Played:
    """The incident arm's phases up to its end, with a guardian of files; `script` has what happens at each look."""

    def __init__(self, stage: Stage, guardian: FileGuardian) -> None:
        self.stage, self.guardian, self.script = stage, guardian, cast(list[Callable[[], Any]], [])

    def play(self) -> None:
        prepare(self.stage.arm)
        start(self.stage.arm)
        watch(self.stage.arm, lambda _: self.script.pop(0)())


@pytest.fixture
def played(load: Callable[..., Scenario], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    monkeypatch.setattr(prepare_module, "recreate_topics", lambda *_: None)
    guardian = FileGuardian(tmp_path)
    with set_up(load(), tmp_path) as stage:
        made = Played(stage, guardian)
        arm, run = stage.arm, stage.main
        mock = SimpleNamespace(**vars(arm.context.stack.mock_api), populate=lambda **_: None)
        stack = {**vars(arm.context.stack), "mock_api": mock, "require_running": lambda: None}
        arm.context = replace(arm.context, stack=cast(Stack, SimpleNamespace(**stack)))
        arm.traffic = cast(Any, SimpleNamespace(count=10, dump=None, catalog=list, has_event_time=False))
        run.context = replace(run.context, guardian=cast(Guardian, guardian))
        run.supervisor._guardian = cast(Guardian, guardian)
        arm.deferrals = NoDeferrals()
        arm.publisher = cast(Publisher, SimpleNamespace(start=lambda: None, done=True, published=10, error=None))
        stage.ends = {"tally.source": {0: 10}}
        arm.sampler = stage.sampler(deferrals=arm.deferrals)
        now = iter(range(1000))
        arm.clock = ArmClock(lambda: float(next(now)), lambda: 0)
        yield made


def test_a_scenario_is_played_with_it(played: Played) -> None:
    arm = played.stage.arm

    def ready() -> None:
        played.guardian.started[0].says({"event": "started", "start": "scratch"})

    def half() -> None:
        assert arm.main.is_running
        played.stage.ends["tally.out"] = {0: 5}

    played.script = [ready, half, lambda: played.stage.ends.update({"tally.out": {0: 10}})]
    played.play()
    (process,) = played.guardian.started
    assert process.argv == ["python", "tally.py"]
    assert process.env == {"BROKER": "127.0.0.1:1", "SOURCE": "tally.source", "OUT": "tally.out"}
    assert arm.state.end == EndByCondition(reached={"drained": 1})
    assert arm.main.view.committed() == {("tally.source", 0): 10}


def test_its_refusal_is_its_own_exit_code(played: Played) -> None:
    def refuse() -> None:
        played.guardian.started[0].exit_code = 64

    played.script = [refuse]
    with pytest.raises(StackError, match="the mine refused to run"):
        played.play()
