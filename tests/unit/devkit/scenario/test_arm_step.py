"""The steps of an arm, as a file writes them, and which of them can never be taken."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.scenario.arm_step import ArmStep
from devkit.scenario.load import load_scenario
from devkit.scenario.placeholders import PLACES, filled, unknown_places
from devkit.scenario.resolve import resolve
from devkit.scenario.stretch import stretch_scenario
from tests.unit.devkit.conftest import Edited

NO_POSITION = "{ expect: { refused: no position } }"
Steps = Callable[[str], Path]


@pytest.fixture
def steps(edited: Edited, tmp_path: Path) -> Steps:
    """The incident arm with these steps."""

    def write(listed: str) -> Path:
        file = tmp_path / "incident.yaml"
        file.write_text(edited(("arms:\n  incident:\n", f"arms:\n  incident:\n    steps: [{listed}]\n")))
        return file

    return write


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({"start": "new"}, "start new"),
        ({"start": "checkpoint"}, "start checkpoint"),
        ({"start": {"arguments": ["--new", "latest"]}}, "start --new latest"),
        ({"start": {"position": "new", "arguments": ["--adopt"]}}, "start new --adopt"),
        (
            {"start": {"configuration": {"batch": {"max_offsets": 5}}}},
            "start checkpoint with {batch: {max_offsets: 5}}",
        ),
        ({"stop": True}, "stop"),
        ({"when": "committed >= 50%"}, "when committed >= 50%"),
        ({"expect": {"refused": "no position"}}, "expect refused: …no position…"),
        ({"expect": {"gave_up": True, "restarts": 3}}, "expect gave up, restarts: 3"),
        ({"expect": {"log": {"event": "waiting"}}}, "expect log: event waiting"),
        ({"expect": {"any": [{"restarts": 2}, {"gave_up": True}]}}, "expect any: [{restarts: 2}, {gave_up: true}]"),
        ({"command": ["a", "b c"]}, "command a 'b c'"),
        ({"command": {"argv": ["a"], "exit_code": 2}}, "command a, exit code 2"),
        ({"command": {"argv": ["a"], "within": "5s"}}, "command a, within 5s"),
    ],
)
def test_a_step_is_told_as_it_is_written(written: dict[str, object], text: str) -> None:
    assert str(ArmStep.model_validate(written)) == text


def test_steps_are_a_difference_between_arms(steps: Steps) -> None:
    scenario = load_scenario(steps(f"{{ start: new }}, {NO_POSITION}, {{ start: {{ arguments: [--new, latest] }} }}"))
    words = "start new; expect refused: …no position…; start --new latest"
    assert resolve(scenario).difference["steps"] == {"incident": words, "fixed": None}
    assert [scenario.may_refuse(arm) for arm in scenario.roles] == [True, False]


def test_times_of_steps_are_stretched(steps: Steps) -> None:
    scenario = load_scenario(
        steps("{ start: new }, { command: { argv: [x], within: 3s } }, { expect: { elapsed: 4s } }")
    )
    _, command, expect = stretch_scenario(resolve(scenario), 2).arms["incident"].steps
    assert command.command is not None
    assert expect.expect is not None
    assert (command.command.within.total_seconds(), expect.expect.elapsed) == (6, expect.expect.elapsed)
    assert expect.expect.elapsed is not None
    assert expect.expect.elapsed.total_seconds() == 8


def test_times_of_a_starts_own_configuration_are_stretched(steps: Steps) -> None:
    own = "batch: { max_offsets: 7 }, stall_timeout: 10s"
    scenario = load_scenario(steps(f"{{ start: {{ position: new, configuration: {{ {own} }} }} }}"))
    (step,) = stretch_scenario(resolve(scenario), 2).arms["incident"].steps
    assert step.start is not None
    configuration = step.start.configuration
    assert (configuration["batch"]["max_offsets"], configuration["stall_timeout"]) == (7, "20s")
    fetched = resolve(scenario).arms["incident"].main.effective["fetch"]["request_timeout"]
    assert configuration["fetch"]["request_timeout"] != fetched


class TestPlaces:
    def test_each_is_filled_in_and_other_braces_stay(self) -> None:
        found = filled(("--at={source}", '{"a": 1}', "x"), {"source": "topic"}.__getitem__)
        assert found == ("--at=topic", '{"a": 1}', "x")

    def test_a_name_is_told_once(self) -> None:
        (problem,) = unknown_places(("{confg}", "{confg}", *(f"{{{name}}}" for name in PLACES)))
        assert problem == "there is no place {confg} to fill in; did you mean 'config'?"
