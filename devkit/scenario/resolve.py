"""Resolves a scenario once, for its checks, its stretch, the player, the causes and the report.

    resolve(scenario) ──> ResolvedScenario   its programs, and in what its arms differ
                            └─ arms          ResolvedArm: rules, timeline, supervisor, container, topics
                                 └─ programs ResolvedProgram: settings, how it is started, its configuration

The stack's addresses are not known here: a configuration is of `NOWHERE` until `ResolvedProgram.at` gives it places.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from devkit.faults.timeline_item import TimelineItem
from devkit.observe.arm_role import ArmName, ArmRole
from devkit.observe.timeline.run_metadata import Difference
from devkit.programs.places import NOWHERE, Places, merge
from devkit.programs.program import ConfiguredProgram, Program
from devkit.programs.registry import find_program
from devkit.programs.spark.program import SPARK
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.scenario.launch_settings import LaunchSettings
from devkit.scenario.model import Scenario
from devkit.scenario.programs import ProgramSettings
from devkit.scenario.rule_window import ScenarioRule
from located_config.dotted_keys import differences
from located_config.flow import flow
from located_config.place import Location

ABSENT = "not in this arm"
KIT_KEYS = ("arguments", "container", "environment", "kafka", "mock", "raw_config", "start", "steps", "timeline")
"""Differences that the kit makes itself and no program logs."""


@dataclass(frozen=True, eq=False)
class ResolvedProgram:
    """A program of an arm. `settings` come from the `sections` of the file, the topmost first.

    `launches` are the launch settings of each section, also the topmost first. `variables` are the names of environment
    variables that any arm gives it.
    """

    name: str
    program: Program
    settings: Mapping[str, Any]
    sections: tuple[Location, ...]
    launches: Mapping[Location, LaunchSettings]
    variables: tuple[str, ...]
    wikis: Mapping[str, str]

    @cached_property
    def launch(self) -> LaunchSettings:
        """The launch settings of all sections together."""
        together = LaunchSettings()
        for section in reversed(list(self.launches)):
            together = together.changed_by(self.launches[section])
        return together

    def at(self, places: Places) -> ConfiguredProgram:
        """Its configuration with the stack's addresses. Raises pydantic's ValidationError."""
        return self.program.configure(replace(places, wikis=self.wikis), self.settings)

    def with_settings(self, overlay: Mapping[str, Any], *sections: Location) -> "ResolvedProgram":
        """The program with more settings on top, from these `sections` of the file."""
        return replace(self, settings=merge(self.settings, overlay), sections=(*sections, *self.sections))

    @cached_property
    def refusal(self) -> ValidationError | None:
        """Why the settings are invalid; None if they are valid."""
        try:
            _ = self.configured
        except ValidationError as error:
            return error
        return None

    @cached_property
    def configured(self) -> ConfiguredProgram:
        """Its configuration, of `NOWHERE`. Raises ValidationError."""
        return self.at(NOWHERE)

    @property
    def if_valid(self) -> ConfiguredProgram | None:
        """Its configuration; None if the settings are invalid, which the check of configurations reports."""
        return None if self.refusal else self.configured

    @cached_property
    def effective(self) -> Mapping[str, Any]:
        """All its settings, defaults resolved, as JSON values. Raises ValidationError."""
        return self.configured.effective()


@dataclass(frozen=True, eq=False)
class ResolvedArm:
    """One arm: the scenario with what this arm has of its own, and its programs by name, the main one first."""

    name: ArmName
    role: ArmRole
    scenario: Scenario
    programs: Mapping[str, ResolvedProgram]

    @property
    def main(self) -> ResolvedProgram:
        """The program that the file's configuration and expectations speak of."""
        return next(iter(self.programs.values()))

    @property
    def rules(self) -> tuple[ScenarioRule, ...]:
        """Those of the mock."""
        return self.scenario.mock.rules

    @cached_property
    def timeline(self) -> tuple[TimelineItem, ...]:
        """The faults that act in it: the shared ones, and behind them or in their place its own."""
        return self.scenario.timeline_of(self.name)

    @cached_property
    def supervisor(self) -> SupervisorPolicy:
        """Its own keys on top of those that all arms share."""
        return self.scenario.supervisor_of(self.name)

    @cached_property
    def tried_first(self) -> ResolvedProgram | None:
        """The start that is tried before the arm's own; None if there is none."""
        overlay = self.scenario.tried_first_in(self.name)
        if overlay is None:
            return None
        key = self.scenario.key_of(self.scenario.tried_first, self.name)
        return self.main.with_settings(overlay, ("tried_first", key))

    @property
    def starts(self) -> Iterator[tuple[Location, ResolvedProgram]]:
        """The starts by steps with a configuration of their own, each with its place."""
        for number, step in enumerate(self.scenario.arms[self.name].steps):
            if step.start is not None and step.start.configuration:
                place: Location = ("arms", self.name, "steps", number, "start", "configuration")
                yield place, self.main.with_settings(step.start.configuration, place)

    @cached_property
    def launched(self) -> Mapping[str, Mapping[str, Any]]:
        """The launch settings of each program, by their keys in the file; those of Spark are below `spark`."""
        return {name: _launch_values(program.launch) for name, program in self.programs.items()}

    @property
    def surroundings(self) -> Mapping[str, Any]:
        """What the kit itself gives the arm, by its keys in the file; a rule of the mock is one value."""
        rules = {rule.name: rule.model_dump(mode="json", by_alias=True, exclude_unset=True) for rule in self.rules}
        container, topics, own = self.scenario.container, self.scenario.kafka.topics, self.scenario.arms[self.name]
        return {
            "container": container and container.model_dump(mode="json"),
            "kafka": {"topics": topics.model_dump(mode="json", by_alias=True)},
            "mock": {name: flow({key: rule[key] for key in rule if key != "name"}) for name, rule in rules.items()},
            "start": own.start,
            "steps": "; ".join(map(str, own.steps)) or None,
        }


@dataclass(frozen=True, eq=False)
class ResolvedScenario:
    """A scenario, its programs by name, the main one first, and its arms. The only program has no name.

    With a stand-in the main program is another one than the file names.
    """

    scenario: Scenario
    programs: Mapping[str, Program]
    arms: Mapping[ArmName, ResolvedArm]
    has_stand_in: bool

    @property
    def main_name(self) -> str:
        """The name of the first program, empty when the file names none."""
        return next(iter(self.programs))

    @property
    def main(self) -> Program:
        """The program that the file's configuration and expectations speak of."""
        return next(iter(self.programs.values()))

    @property
    def needs_triple_store(self) -> bool:
        """Whether one of its programs needs one."""
        return any(program.needs_triple_store for program in self.programs.values())

    @cached_property
    def difference(self) -> dict[str, Difference]:
        """Keys, as dotted paths, in which the arms differ: `{key: {arm: value}}`, of the main program first.

        Differences of other programs follow as `programs.NAME.…`, then those of supervisors and surroundings, then
        faults of the timeline that not every arm has, as `timeline.NAME`. Raises ValidationError for an invalid
        configuration.
        """
        of_main, of_others = dict[str, Difference](), dict[str, Difference]()
        for name in self.programs:
            configured = self._differing(lambda arm: arm.programs[name].effective)  # noqa: B023 — called at once
            if name == self.main_name:
                of_main = configured
            else:
                own = {key: values for key, values in configured.items() if of_main.get(key) != values}
                of_others |= {f"programs.{name}.{key}": values for key, values in own.items()}
            before = f"programs.{name}." if name else ""
            launched = self._differing(lambda arm: arm.launched[name])  # noqa: B023
            of_others |= {f"{before}{key}": values for key, values in launched.items()}
        policies = self._differing(lambda arm: arm.supervisor.model_dump(mode="json"))
        of_others |= {f"supervisor.{key}": values for key, values in policies.items()}
        of_others |= self._differing(lambda arm: arm.surroundings)
        faults = {name: {item.name: str(item) for item in arm.timeline} for name, arm in self.arms.items()}
        of_timeline: dict[str, Difference] = {
            f"timeline.{name}": {arm: faults[arm].get(name, ABSENT) for arm in faults}
            for name in dict.fromkeys(item.name for _, item, _ in self.scenario.timeline_at())
            if len({faults[arm].get(name) for arm in faults}) > 1
        }
        return of_main | of_others | of_timeline

    def _differing(self, settings: Callable[[ResolvedArm], Mapping[str, Any]]) -> dict[str, Difference]:
        return differences({name: settings(arm) for name, arm in self.arms.items()})

    def topics_made_afresh(self, arms: Iterable[ArmName]) -> tuple[str, ...]:
        """The topics that these arms delete and create again on any stack. Raises ValidationError."""
        configured = (program.configured for arm in arms for program in self.arms[arm].programs.values())
        return tuple(sorted({name for program in configured for name in program.topics.names()}))


def resolve(scenario: Scenario, instead: Program | None = None) -> ResolvedScenario:
    """`instead` takes the place of the main program."""
    programs = {name: find_program(spec.run, scenario.directory) for name, spec in scenario.programs.items()} or {
        "": SPARK
    }
    main_model = next(iter(programs.values())).model
    main_name = next(iter(programs))
    if instead is not None:
        programs[main_name] = instead

    def launches(arm: ArmName, name: str) -> dict[Location, LaunchSettings]:
        own: dict[Location, LaunchSettings | None] = {
            ("arms", arm, "programs", name): scenario.arms[arm].programs.get(name),
            ("arms", arm): scenario.arms[arm] if name == main_name else None,
            ("programs", name): scenario.programs.get(name),
        }
        return {place: launch for place, launch in own.items() if launch is not None}

    def program(arm: ArmName, name: str) -> ResolvedProgram:
        is_like_main = name == main_name or programs[name].model is main_model
        settings, sections = _settings(scenario, arm, name, is_like_main=is_like_main)
        sections_of_arms = (section for other in scenario.roles for section in launches(other, name).values())
        variables = tuple(sorted({variable for section in sections_of_arms for variable in section.environment}))
        wikis = scenario.traffic.wikis
        return ResolvedProgram(name, programs[name], settings, sections, launches(arm, name), variables, wikis)

    arms = {
        arm: ResolvedArm(arm, role, scenario.for_arm(arm), {name: program(arm, name) for name in programs})
        for arm, role in scenario.roles.items()
    }
    return ResolvedScenario(scenario, programs, arms, has_stand_in=instead is not None)


def _settings(
    scenario: Scenario, arm: ArmName, name: str, *, is_like_main: bool
) -> tuple[dict[str, Any], tuple[Location, ...]]:
    """The settings of a program of an arm, and the sections of the file that they come from.

    Shared settings lie below the arm's own. In both, settings for all programs with the main one's configuration model
    lie below those for this program.
    """
    arm_place: Location = ("arms", arm)
    shared, overlay = (scenario.pipeline, scenario.overlay(arm)) if is_like_main else ({}, {})
    if (spec := scenario.programs.get(name)) is not None:
        shared = merge(shared, spec.configuration)
        overlay = merge(overlay, _in_arm(scenario, arm, name).configuration)
    if not name:
        return merge(shared, overlay), (arm_place, ("pipeline",))
    own: Location = ("programs", name, "configuration")
    in_arm: Location = (*arm_place, *own)
    sections = (in_arm, arm_place, own, ("pipeline",)) if is_like_main else (in_arm, own)
    return merge(shared, overlay), sections


def _in_arm(scenario: Scenario, arm: ArmName, name: str) -> ProgramSettings:
    return scenario.arms[arm].programs.get(name, ProgramSettings())


def _launch_values(launch: LaunchSettings) -> dict[str, Any]:
    raw = launch.raw_config
    return {
        "environment": launch.variables,
        "slots": launch.slots_in_all,
        "executors": launch.executors,
        "spark": {key.removeprefix("spark."): value for key, value in launch.spark.items()},
        "arguments": shlex.join(launch.arguments) or None,
        "raw_config": raw and (raw.file or " / ".join(raw.text.split("\n"))),
    }


def kind_of(key: str) -> str:
    """The first word of a difference's key, without `programs.NAME.`."""
    parts = key.split(".")
    return parts[2] if parts[0] == "programs" and len(parts) > 2 else parts[0]
