"""A stretched scenario is the same incident, slower."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from devkit.errors import UsageError
from devkit.observe.arm_role import ROLES
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.programs.spark.configuration import CONFIG
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.programs import ProgramSettings, ProgramSpec
from devkit.scenario.resolve import resolve
from devkit.scenario.stretch import not_stretched, stretch_scenario
from devkit.traffic.all_streams import generate_all
from devkit.traffic.model import TrafficSpec
from tests.unit.devkit.conftest import Edited
from tests.unit.devkit.headroom.durations import durations
from tests.unit.devkit.scenario.arms_of import arms_of

SHIPPED = sorted((Path(__file__).parents[4] / "scenarios").glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_ones_can_be_stretched(path: Path) -> None:
    scenario = load_scenario(path)
    slower = stretch_scenario(resolve(scenario), 3)
    assert slower.until.deadline == 3 * scenario.until.deadline
    assert slower.supervisor.delay == 3 * scenario.supervisor.delay
    assert list(durations(slower.mock)) == [3 * one for one in durations(scenario.mock)]
    assert list(durations(slower.expect)) == [3 * one for one in durations(scenario.expect)]
    assert resolve(slower).difference.keys() == resolve(scenario).difference.keys()
    for arm in ROLES:
        before, after = (resolve(one).arms[arm] for one in (scenario, slower))
        assert (before.tried_first is None) == (after.tried_first is None)
        for pair in ((before.main, after.main), (before.tried_first, after.tried_first)):
            shown = [CONFIG.validate_python(one.effective) for one in pair if one]
            if not shown:
                continue
            assert list(durations(shown[1])) == [3 * one for one in durations(shown[0])]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_its_events_are_the_same_in_number_order_and_size(path: Path) -> None:
    scenario = load_scenario(path)
    # One after the other: some have hundreds of megabytes.
    before = keys_and_sizes(scenario.traffic)
    assert keys_and_sizes(stretch_scenario(resolve(scenario), 2).traffic) == before


def keys_and_sizes(traffic: TrafficSpec) -> list[tuple[bytes | None, int]]:
    return [(record.key, len(record.value)) for record in generate_all(traffic).records]


def test_the_policy_of_an_arms_supervisor_is_stretched_and_its_counts_are_not(edited: Edited, tmp_path: Path) -> None:
    path = tmp_path / "an-incident.yaml"
    path.write_text(edited(("  fixed:\n", "  fixed:\n    supervisor: { attempts: 3, reset_after: 4s }\n")))
    slower = stretch_scenario(resolve(load_scenario(path)), 2)
    assert slower.supervisor_of("fixed") == SupervisorPolicy(
        delay=timedelta(seconds=4), max_delay=timedelta(days=2), attempts=3, reset_after=timedelta(seconds=8)
    )
    assert slower.supervisor_of("incident") == SupervisorPolicy(delay=timedelta(seconds=4), max_delay=timedelta(days=2))


def test_by_1_it_is_the_same_and_by_more_it_can_be_stretched_again(scenario: Scenario) -> None:
    assert stretch_scenario(resolve(scenario), 1) is scenario
    assert stretch_scenario(resolve(scenario), 2).time_scale == scenario.time_scale / 2
    twice = stretch_scenario(resolve(stretch_scenario(resolve(scenario), 2)), 3)
    assert twice.until == stretch_scenario(resolve(scenario), 6).until


def test_a_value_beyond_what_its_key_allows_is_said(scenario: Scenario) -> None:
    for delay in (timedelta.max / 3, timedelta.max):
        with pytest.raises(UsageError, match="cannot be stretched by 8"):
            stretch_scenario(resolve(scenario.model_copy(update={"supervisor": SupervisorPolicy(delay=delay)})), 8)


def values(value: Any, path: str = "") -> Iterator[tuple[str, object]]:
    """All single values in a model, by their place."""
    if isinstance(value, BaseModel):
        # What it does not show has no effect.
        effective = value.model_dump(warnings=False).keys() | value.model_fields_set
        for name, one in value:
            if name in effective:
                yield from values(one, f"{path}.{name}")
    elif isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in items:
            yield from values(one, f"{path}.{key}")
    else:
        yield path, value


TENTHS = st.integers(1, 600).map(lambda tenths: f"{tenths * 100}ms")
SETTINGS = st.fixed_dictionaries(
    {"batch": st.fixed_dictionaries({"max_offsets": st.integers(1, 500)}, optional={"trigger": TENTHS})},
    optional={
        "sink": st.fixed_dictionaries({"max.request.size": st.integers(1 << 20, 64 << 20)}),
        "claim_check": st.fixed_dictionaries({}, optional={"max_bytes": st.just("48MiB")}),
    },
)


@settings(max_examples=25)
@given(st.sampled_from(SHIPPED), SETTINGS, st.integers(2, 8))
def test_the_ratio_of_any_two_durations_stays_and_nothing_else_changes(
    path: Path, of_both: dict[str, Any], by: int
) -> None:
    """Of the resolved configuration, its defaults among them: sizes, counts and shares are as they were."""
    scenario = load_scenario(path)
    scenario = scenario.model_copy(update={"pipeline": {**scenario.pipeline, **of_both}})
    slower = stretch_scenario(resolve(scenario), by)
    for arm in ROLES:
        before, after = (
            dict(values(CONFIG.validate_python(resolve(one).arms[arm].main.configured.effective())))
            for one in (scenario, slower)
        )
        assert before.keys() == after.keys()
        for place, value in before.items():
            assert after[place] == (value * by if isinstance(value, timedelta) else value), place


@pytest.fixture
def several(scenario: Scenario) -> Scenario:
    """The second one has timeouts of its own, one of them nothing; and what the first has in an arm."""
    own = {"batch": {"trigger": "0s"}, "stall_timeout": "70s"}
    programs = {
        "html": ProgramSpec(run="pipeline"),
        "content": ProgramSpec.model_validate(
            {"run": "pipeline content-enrichment", "configuration": own, "environment": {"LEVEL": "info"}}
        ),
    }
    arms = {"incident": {"batch": {"trigger": "5s"}, "programs": {"content": {"configuration": own}}}, "fixed": {}}
    return scenario.model_copy(update={"programs": programs, "arms": arms_of(**arms)})


def test_each_of_several_programs_is_stretched_by_what_it_has(several: Scenario) -> None:
    slower = stretch_scenario(resolve(several), 3)
    for arm in ROLES:
        for name in ("html", "content"):
            before, after = (
                durations(CONFIG.validate_python(resolve(one).arms[arm].programs[name].configured.effective()))
                for one in (several, slower)
            )
            assert list(after) == [3 * one for one in before], (arm, name)
    assert slower.arms["incident"].programs["content"].configuration["stall_timeout"] != "70s"
    assert not_stretched(resolve(several)) == ()


def test_what_no_stretch_reaches_is_named_with_its_program_if_there_are_several(
    several: Scenario, scenario: Scenario
) -> None:
    command = CommandProgram(CommandLine(("mine",), Path("/nowhere")))
    assert not_stretched(resolve(several, command)) == ("a command's own settings (program html)",)
    assert not_stretched(resolve(scenario, command)) == ("a command's own settings",)
    assert not_stretched(resolve(scenario)) == ()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"environment": {"POLL": "every 5s"}}, ("the variable POLL (program content)",)),
        ({"environment": {"POLL": {"value": "5 times", "time_based": False}}}, ()),
        ({"raw_config": {"text": "a: 1"}}, ("its raw configuration (program content)",)),
        ({"raw_config": {"text": "a: 1", "time_based": False}}, ()),
    ],
)
def test_what_may_be_a_time_is_named_unless_the_file_says_otherwise(
    several: Scenario, settings: dict[str, Any], named: tuple[str, ...]
) -> None:
    own = {"content": ProgramSettings.model_validate(settings)}
    fixed = several.arms["fixed"].model_copy(update={"programs": own})
    assert not_stretched(resolve(several.model_copy(update={"arms": several.arms | {"fixed": fixed}}))) == named
