"""Conditions of `until` that no arm can reach, by what the file itself says."""

from collections.abc import Iterator

from pydantic import ValidationError

from devkit.observe.logs import LOGGED
from devkit.programs.places import NOWHERE
from devkit.programs.program import Program
from devkit.programs.spark.program import ConfiguredSpark, SparkProgram
from devkit.programs.unknown import unknown_program
from devkit.scenario.arm_ending import Condition
from devkit.scenario.configure import configured, main_name, programs_of
from devkit.scenario.model import Scenario
from devkit.scenario.served_metrics import of_metric, served_by
from located_config.duration import format_duration
from located_config.near import near_miss
from located_config.place import Location


def endless(scenario: Scenario, instead: Program | None = None) -> Iterator[tuple[Location, str]]:
    """Where in the file, and what is wrong there; `instead` takes the main program's place."""
    for place, condition in scenario.until.condition.inside(("until",)):
        for key in ("elapsed", "running_for"):
            time = getattr(condition, key)
            if time is not None and time >= scenario.until.deadline:
                deadline = format_duration(scenario.until.deadline)
                yield (*place, key), f"each arm ends at its deadline of {deadline} before that"
        if condition.gave_up and all(scenario.supervisor_of(arm).attempts is None for arm in scenario.roles):
            yield (*place, "gave_up"), "no supervisor gives up: write `supervisor: { attempts: 3 }`"
        yield from _of_log(scenario, condition, place, instead)
        yield from _of_metrics(scenario, condition, place, instead)


def _of_log(
    scenario: Scenario, condition: Condition, place: Location, instead: Program | None
) -> Iterator[tuple[Location, str]]:
    programs = programs_of(scenario, instead)
    pipelines = {name for name, program in programs.items() if isinstance(program, SparkProgram)}
    for log in condition.log:
        if log.program is not None and log.program not in scenario.programs:
            yield (*place, "log"), unknown_program(log.program, scenario.programs)
        elif (log.program or main_name(scenario)) in pipelines and log.event not in LOGGED:
            known = near_miss(log.event, sorted(LOGGED))
            yield (*place, "log"), f"the pipeline writes no event {log.event!r}; {known}"


def _of_metrics(
    scenario: Scenario, condition: Condition, place: Location, instead: Program | None
) -> Iterator[tuple[Location, str]]:
    main = programs_of(scenario, instead)[main_name(scenario)]
    try:
        found = [configured(scenario, arm, NOWHERE, main_name(scenario), main) for arm in scenario.roles]
    except ValidationError:
        return  # which is told by itself
    for metric in condition.metric:
        if not any(one.serves_metrics for one in found):
            yield (*place, "metric"), "no arm serves metrics: set metrics.port (0 takes a free one) in `pipeline`"
        elif all(isinstance(one, ConfiguredSpark) for one in found):
            configs = [one.config for one in found if isinstance(one, ConfiguredSpark)]
            known = {series: labels for config in configs for series, labels in served_by(config).items()}
            for _, text in of_metric(metric, known):
                yield (*place, "metric"), text
