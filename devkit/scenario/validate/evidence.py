"""Checks for files that can be played, but of which no run can prove anything.

Such a file is refused without `devkit scenario run --unchecked`, which a test with swapped arms uses.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import product
from typing import Any

from devkit.observe.arm_role import ArmName, in_role
from devkit.scenario.model import Scenario
from devkit.scenario.programs import ProgramSettings
from devkit.scenario.resolve import ResolvedProgram, ResolvedScenario
from devkit.scenario.source_location import locations_of, once
from devkit.scenario.validate.causes import check_causes, check_faultless_arms, check_same_arms
from devkit.scenario.validate.expectations import check_expectations
from devkit.scenario.validate.spark import check_spark
from devkit.scenario.validate.traffic import check_error_types, check_wikibase_topics
from devkit.scenario.validate.until import check_until
from located_config.duration import format_duration
from located_config.place import Location, reaches
from located_config.problem import Problem
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import UNSAFE

_WIKIS = ("mediawiki", "wikis")
_GRACE = ("fetch", "not_found_grace")


def check_evidence(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Problems that keep a run from proving anything. Raises ValidationError for an invalid configuration."""
    scenario = resolved.scenario
    last, deadline = scenario.traffic.last_event, scenario.until.deadline
    if deadline <= last:
        text = f"an arm ends after {format_duration(deadline)}, and its last event is published after"
        published = format_duration(timedelta(milliseconds=math.ceil(last / timedelta(milliseconds=1))))
        remedy = "raise it, or shorten traffic.for"
        yield Problem(("until", "deadline"), f"{text} {published}: it can never drain", remedy)
    for number, rule in enumerate(scenario.mock.rules):
        window = rule.when.window
        if window is not None and window.from_ >= deadline:
            yield Problem(
                ("mock", "rules", number, "when", "window", "from"),
                f"each arm ends at its deadline of {format_duration(deadline)}, before this begins",
                "let it begin earlier, or raise until.deadline",
            )
    yield from (Problem(place, text) for place, text in check_until(resolved))
    yield from once(check_expectations(resolved, are_playable=True))
    for place in locations_of(scenario, _WIKIS):
        yield Problem(place, "is given by the kit, from traffic.wikis", "write them there")
    valid = {name: arm.main.if_valid for name, arm in resolved.arms.items()}
    configurations = {name: program.config if program else None for name, program in valid.items()}
    yield from _check_unsafe_fix(resolved, configurations)
    yield from check_spark(resolved)
    yield from check_error_types(resolved)
    yield from check_wikibase_topics(resolved)
    yield from check_causes(resolved)
    yield from check_faultless_arms(resolved)
    yield from check_same_arms(resolved)
    if scenario.traffic.event_times != "when published":
        yield from once(_check_grace(resolved))


def _check_grace(resolved: ResolvedScenario) -> Iterator[Problem]:
    """A grace counted from the time of an event, where those times are fixed."""
    scenario = resolved.scenario
    times = "that they were received on 2026-03-02" if scenario.traffic.from_ is None else "the times of the capture"
    for arm in resolved.arms.values():
        for program in arm.programs.values():
            config = program.if_valid.config if program.if_valid else None
            if (
                config is not None
                and "not_found_grace" in config.fetch.model_fields_set  # the default is no proof of anything
                and config.fetch.not_found_grace > timedelta(0)
            ):
                yield Problem(
                    _written_at(scenario, program, _GRACE),
                    f"no event is young enough for it: events say {times}",
                    "write `event_times: when published` under `traffic`",
                )


def _written_at(scenario: Scenario, program: ResolvedProgram, key: Location) -> Location:
    """The topmost place of the file that gives the program the setting."""

    def of_programs(programs: Mapping[str, ProgramSettings]) -> dict[str, Any]:
        return {name: {"configuration": settings.configuration} for name, settings in programs.items()}

    arms = {
        arm: scenario.overlay(arm) | {"programs": of_programs(scenario.arms[arm].programs)} for arm in scenario.arms
    }
    file = {"pipeline": scenario.pipeline, "arms": arms, "programs": of_programs(scenario.programs)}
    places: list[Location] = [(*section, *key) for section in program.sections]
    return next((place for place in places if reaches(file, place) == len(place)), places[-1])


def _check_unsafe_fix(
    resolved: ResolvedScenario, configurations: Mapping[ArmName, PipelineConfig | None]
) -> Iterator[Problem]:
    """Unsafe policies that a fixed arm has and no incident arm."""
    incidents = [configurations[arm] for arm in in_role(resolved.scenario.roles, "incident")]
    for arm, policy in product(in_role(resolved.scenario.roles, "fixed"), UNSAFE):
        fixed = configurations[arm]
        if fixed is None or None in incidents:
            continue
        if policy.holds(fixed) and not any(config is not None and policy.holds(config) for config in incidents):
            none = "the incident arm does not" if len(incidents) == 1 else "no incident arm has"
            yield Problem(
                ("arms", arm, *policy.key.split(".")),
                f"the {arm} arm has the unsafe {policy.text}, and {none}",
                "swap the arms, or leave it out",
            )
