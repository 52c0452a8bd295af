"""Differences between incident and fix that a file does not name as a cause."""

from pathlib import Path

import pytest

from devkit.observe.program_observation import ProgramObservation
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.undeclared_differences import undeclared_differences
from devkit.verdict.shown_cause import shown_causes
from tests.unit.devkit.conftest import Edited
from tests.unit.devkit.observed import a_program, an_observation

SHIPPED = sorted((Path(__file__).parents[4] / "scenarios").glob("*.yaml"))
INCIDENT = ("arms:\n  incident:\n", "arms:\n  incident:\n    {}\n")
NOT_NAMED = {"lost-checkpoint": ("steps",), "two-hundred-stores": ("steps",)}
"""By shipped scenario: the kit makes them, and no program confirms them."""


def undeclared(scenario: Scenario) -> tuple[str, ...]:
    return undeclared_differences(resolve(scenario))


def incident_has(text: str) -> tuple[str, str]:
    before, after = INCIDENT
    return before, after.format(text)


BOTH = "{ differs: record_limit.policy }, { differs: content_limit.measure }"


@pytest.mark.parametrize(
    ("cause", "changes", "found"),
    [
        ("", [], ()),  # the file claims nothing
        (BOTH, [], ()),
        ("{ fault: huge page }", [], ("content_limit.measure", "record_limit.policy")),
        ("{ differs: record_limit.policy }", [], ("content_limit.measure",)),
        # What follows from a value that is written is not written itself.
        (
            f"{BOTH}, {{ differs: deferral.inline_allowance }}",
            [incident_has("deferral: { inline_allowance: 21s }")],
            (),
        ),
        (BOTH, [incident_has("fetch: { concurrency: 1 }")], ("fetch.concurrency",)),
        (BOTH, [incident_has("supervisor: { attempts: 1 }")], ("supervisor.attempts",)),
        (BOTH, [incident_has("slots: 2")], ("slots",)),
        (BOTH, [incident_has("environment: { A: b }")], ("environment.A",)),
        (BOTH, [incident_has("mock: { rules: [{ name: own, do: { latency: 1s } }] }")], ("mock.own",)),
        (
            f"{BOTH}, {{ fault: own, absent_in: [fixed] }}",
            [incident_has("mock: { rules: [{ name: own, do: { latency: 1s } }] }")],
            (),
        ),
        # The arm `incident` has the fix's value, and the incident.
        (BOTH, [("arms:\n", "arms:\n  more:\n    role: incident\n    fetch: { concurrency: 1 }\n")], ()),
    ],
)
def test_are_those_that_are_written_and_not_named(
    edited: Edited, tmp_path: Path, cause: str, changes: list[tuple[str, str]], found: tuple[str, ...]
) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(edited(*changes, *([("arms:\n", f"cause: [{cause}]\narms:\n")] if cause else ())))
    assert undeclared(load_scenario(path)) == found


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenarios_name_theirs(path: Path) -> None:
    assert undeclared(load_scenario(path)) == NOT_NAMED.get(path.stem, ())


def logged(scenario: Scenario, arm: str) -> tuple[ProgramObservation, ...]:
    programs = resolve(scenario).arms[arm].programs
    return tuple(a_program(name, confirmed=program.effective) for name, program in programs.items())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_programs_of_shipped_scenarios_confirm_what_they_name(path: Path) -> None:
    scenario = load_scenario(path)
    observed = {arm: an_observation(programs=logged(scenario, arm)) for arm in scenario.roles}
    found = shown_causes(resolve(scenario), observed)
    of_process = ("differs spark.", "differs arguments")
    named = [one for one in found if one.cause.startswith("differs ") and not one.cause.startswith(of_process)]
    assert [one.cause for one in named if not one.shown] == []
