"""Conditions of `until` that no arm can reach, by what the file itself says."""

from collections.abc import Iterator

from devkit.observe.logs import LOGGED
from devkit.programs.spark.program import ConfiguredSpark, SparkProgram
from devkit.programs.unknown import unknown_program
from devkit.scenario.arm_ending import Condition
from devkit.scenario.resolve import ResolvedScenario
from devkit.scenario.validate.metrics import check_metric, served_metrics
from located_config.duration import format_duration
from located_config.near import near_miss
from located_config.place import Location


def check_until(resolved: ResolvedScenario) -> Iterator[tuple[Location, str]]:
    """Where in the file, and what is wrong there."""
    scenario = resolved.scenario
    for place, condition in scenario.until.condition.inside(("until",)):
        for key in ("elapsed", "running_for"):
            time = getattr(condition, key)
            if time is not None and time >= scenario.until.deadline:
                deadline = format_duration(scenario.until.deadline)
                yield (*place, key), f"each arm ends at its deadline of {deadline} before that"
        if condition.gave_up and all(arm.supervisor.attempts is None for arm in resolved.arms.values()):
            yield (*place, "gave_up"), "no supervisor gives up: write `supervisor: { attempts: 3 }`"
        yield from _of_log(resolved, condition, place)
        yield from _of_metrics(resolved, condition, place)


def _of_log(resolved: ResolvedScenario, condition: Condition, place: Location) -> Iterator[tuple[Location, str]]:
    named = resolved.scenario.programs
    pipelines = {name for name, program in resolved.programs.items() if isinstance(program, SparkProgram)}
    for log in condition.log:
        if log.program is not None and log.program not in named:
            yield (*place, "log"), unknown_program(log.program, named)
        elif (log.program or resolved.main_name) in pipelines and log.event not in LOGGED:
            known = near_miss(log.event, sorted(LOGGED))
            yield (*place, "log"), f"the pipeline writes no event {log.event!r}; {known}"


def _of_metrics(resolved: ResolvedScenario, condition: Condition, place: Location) -> Iterator[tuple[Location, str]]:
    if any(arm.main.refusal for arm in resolved.arms.values()):
        return
    found = [arm.main.configured for arm in resolved.arms.values()]
    for metric in condition.metric:
        if not any(one.serves_metrics for one in found):
            yield (*place, "metric"), "no arm serves metrics: set metrics.port (0 takes a free one) in `pipeline`"
        elif all(isinstance(one, ConfiguredSpark) for one in found):
            configs = [one.config for one in found if isinstance(one, ConfiguredSpark)]
            known = {series: labels for config in configs for series, labels in served_metrics(config).items()}
            for _, text in check_metric(metric, known):
                yield (*place, "metric"), text
