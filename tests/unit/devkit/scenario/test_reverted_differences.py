"""Differences between incident and fix: each is turned back by itself, and those that no cause names are told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.observe.program_observation import ProgramObservation
from devkit.scenario.load import LoadedFile, load_file, load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.reverted_differences import RevertedDifference, reverted_differences
from devkit.scenario.undeclared_differences import undeclared_differences
from devkit.verdict.shown_cause import shown_causes
from tests.unit.devkit.conftest import TEXT, Edited
from tests.unit.devkit.observed import a_program, an_observation

ARMS = TEXT[TEXT.index("arms:\n") : TEXT.index("expect:\n")]
Load = Callable[..., LoadedFile]
SHIPPED = sorted((Path(__file__).parents[4] / "scenarios").glob("*.yaml"))
INCIDENT = ("arms:\n  incident:\n", "arms:\n  incident:\n    {}\n")
NOT_NAMED = {"lost-checkpoint": ("steps",), "two-hundred-stores": ("steps",)}
"""By shipped scenario: the kit makes them, and no program confirms them."""


@pytest.fixture
def load_changed(tmp_path: Path) -> Load:
    """The valid file with other arms."""

    def load_changed(arms: str, *changes: tuple[str, str]) -> LoadedFile:
        text = TEXT.replace(ARMS, f"arms:\n{arms}\n")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / "a.yaml"
        path.write_text(text)
        return load_file(path, unchecked=True)

    return load_changed


def found(file: LoadedFile, incident: str = "incident") -> dict[str, RevertedDifference]:
    return {one.difference: one for one in reverted_differences(file, "fixed", incident)}


def overlay_without(file: LoadedFile, difference: str) -> object:
    loaded = found(file)[difference].load(file)
    return None if loaded is None else loaded.scenario.overlay("fixed")


def test_each_single_value_is_a_difference_by_itself(load_changed: Load) -> None:
    file = load_changed(
        "  incident: { content_limit: { measure: content_length }, record_limit: { policy: none } }\n"
        "  fixed: { record_limit: { policy: serialized }, batch: { max_offsets: 10 } }"
    )
    assert {key: (one.incident, one.fixed) for key, one in found(file).items()} == {
        "record_limit.policy": ("none", "serialized"),
        "batch.max_offsets": (None, 10),
        "content_limit.measure": ("content_length", None),
    }
    assert overlay_without(file, "record_limit.policy") == {
        "record_limit": {"policy": "none"},
        "batch": {"max_offsets": 10},
    }
    assert overlay_without(file, "batch.max_offsets") == {"record_limit": {"policy": "serialized"}, "batch": {}}
    assert overlay_without(file, "content_limit.measure") == {
        "record_limit": {"policy": "serialized"},
        "batch": {"max_offsets": 10},
        "content_limit": {"measure": "content_length"},
    }
    assert file.scenario.overlay("fixed")["batch"] == {"max_offsets": 10}


def test_an_arm_with_nothing_of_its_own_gets_what_the_incident_has(load_changed: Load) -> None:
    file = load_changed("  incident: { record_limit: { policy: none } }\n  fixed:")
    assert overlay_without(file, "record_limit.policy") == {"record_limit": {"policy": "none"}}


def test_surroundings_of_an_arm_are_differences_and_its_role_is_none(load_changed: Load) -> None:
    file = load_changed(
        "  burst: { role: incident, supervisor: { attempts: 2 }, container: { memory: 1GiB } }\n"
        "  fixed: { supervisor: { delay: 1s }, kafka: { topics: { output: { max.message.bytes: 40MiB } } } }",
        ("  incident:\n    - restarts", "  burst:\n    - restarts"),
    )
    differences = found(file, "burst")
    assert list(differences) == [
        "supervisor.delay",
        "supervisor.attempts",
        "kafka.topics.output.max.message.bytes",
        "container.memory",
    ]
    assert differences["supervisor.attempts"].place == "arms.fixed.supervisor.attempts"


def test_a_default_that_is_written_is_no_difference_when_it_is_left_out(load_changed: Load) -> None:
    file = load_changed(
        "  incident: { record_limit: { policy: none } }\n"
        "  fixed: { content_limit: { measure: decoded }, record_limit: { policy: serialized } }"
    )
    assert found(file)["content_limit.measure"].load(file) is None
    assert found(file)["record_limit.policy"].load(file) is not None


def test_a_fault_that_only_the_incident_meets_is_put_into_the_fixed_arm(load_changed: Load) -> None:
    item = "timeline: [{ name: broker still, do: { pause: { part: kafka } }, at: 2s, for: 1s, arms: [incident] }]\n"
    file = load_changed("  incident: {}\n  fixed: {}", ("until:\n", f"{item}until:\n"))
    (one,) = reverted_differences(file, "fixed", "incident")
    assert one.difference == "timeline.broker still"
    without = one.load(file)
    assert without is not None
    assert [item.name for item in without.scenario.timeline_of("fixed")] == ["broker still"]


def test_what_both_arms_have_by_an_alias_is_turned_back_in_one(load_changed: Load) -> None:
    file = load_changed(
        "  incident: &both { record_limit: { policy: none }, batch: { max_offsets: 10 } }\n"
        "  fixed: { <<: *both, record_limit: { policy: serialized } }"
    )
    assert list(found(file)) == ["record_limit.policy"]
    without = found(file)["record_limit.policy"].load(file)
    assert without is None or without.scenario.overlay("incident") == file.scenario.overlay("incident")


def test_what_is_invalid_without_it_says_so(load_changed: Load) -> None:
    file = load_changed(
        "  incident: { fetch: { deadline: 90s } }\n  fixed: { fetch: { deadline: 60s, request_timeout: 50s } }",
    )
    bad = RevertedDifference("x", "arms.fixed.x", None, None, file.document | {"until": {}})
    with pytest.raises(InvalidFileError):
        bad.load(file)


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
