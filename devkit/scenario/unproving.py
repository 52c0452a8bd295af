"""What a file says that can be played, and of which no run would show what it is there to show.

Such a file is refused unless a person says that it is meant: `devkit scenario run --unchecked`. A test that swaps the
arms of an incident does.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import product

from pydantic import ValidationError

from devkit.observe.arm_role import ArmName, in_role
from devkit.programs.like_pipeline import ConfiguredLikePipeline
from devkit.programs.places import NOWHERE
from devkit.programs.program import Program
from devkit.scenario.configure import configured
from devkit.scenario.endless import endless
from devkit.scenario.model import Scenario
from devkit.scenario.unshowable import nothing_named, same_arms, unshowable
from devkit.scenario.vacuous import vacuous
from devkit.scenario.written import expected_at, once, places_of, written_at
from located_config.duration import format_duration
from located_config.problem import Problem
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import UNSAFE

_WIKIS = ("mediawiki", "wikis")
_GRACE = ("fetch", "not_found_grace")


def unproving(scenario: Scenario, instead: Program | None = None) -> Iterator[Problem]:
    """`instead` takes the place of the main program."""
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
    yield from (Problem(place, text) for place, text in endless(scenario, instead))
    yield from once(
        Problem((*place, *key), text)
        for arm in scenario.roles
        for place, expectation in expected_at(scenario, arm)
        for key, text in vacuous(scenario, arm, expectation, instead)
    )
    for place in places_of(scenario, _WIKIS):
        yield Problem(place, "is given by the kit, from traffic.wikis", "write them there")
    configurations = {arm: _config(scenario, arm) for arm in scenario.roles}
    yield from _unsafe_fix(scenario, configurations)
    yield from unshowable(scenario, instead)
    yield from nothing_named(scenario)
    yield from same_arms(scenario, instead)
    for arm, config in configurations.items():
        if (
            scenario.traffic.event_times == "fixed"
            and config is not None
            and "not_found_grace" in config.fetch.model_fields_set  # the default is no proof of anything
            and config.fetch.not_found_grace > timedelta(0)
        ):
            yield Problem(
                written_at(scenario, arm, _GRACE),
                "no event is young enough for it: events say that they were received on 2026-03-02",
                "write `event_times: when published` under `traffic`",
            )


def _unsafe_fix(scenario: Scenario, configurations: Mapping[ArmName, PipelineConfig | None]) -> Iterator[Problem]:
    """A policy of an incident that a fixed arm has, and no incident arm."""
    incidents = [configurations[arm] for arm in in_role(scenario.roles, "incident")]
    for arm, policy in product(in_role(scenario.roles, "fixed"), UNSAFE):
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


def _config(scenario: Scenario, arm: ArmName) -> PipelineConfig | None:
    """Of the main program, where it is configured as the pipeline is."""
    try:
        found = configured(scenario, arm, NOWHERE)
    except ValidationError:
        return None  # which is told by itself
    return found.config if isinstance(found, ConfiguredLikePipeline) else None
