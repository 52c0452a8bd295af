"""Checks for conditions of `until` that no arm can reach."""

from collections.abc import Iterator

from devkit.expectations.metric import find_unserved
from devkit.observe.logs.logs import LOGGED
from devkit.programs.unknown_program import unknown_program
from devkit.scenario.end_condition import Condition
from devkit.scenario.resolve import ResolvedScenario
from located_config.duration import format_duration
from located_config.near import near_miss
from located_config.place import Location


def check_until(resolved: ResolvedScenario) -> Iterator[tuple[Location, str]]:
    """Problems of `until`, with their places."""
    scenario = resolved.scenario
    for place, condition in scenario.until.condition.inside(("until",)):
        for key in ("elapsed", "running_for"):
            time = getattr(condition, key)
            if time is not None and time >= scenario.until.deadline:
                deadline = format_duration(scenario.until.deadline)
                yield (*place, key), f"each arm ends at its deadline of {deadline} before that"
        if condition.gave_up and all(arm.supervisor.attempts is None for arm in resolved.arms.values()):
            yield (*place, "gave_up"), "no supervisor gives up: write `supervisor: { attempts: 3 }`"
        yield from _check_logs(resolved, condition, place)
        yield from _check_metrics(resolved, condition, place)


def _check_logs(resolved: ResolvedScenario, condition: Condition, place: Location) -> Iterator[tuple[Location, str]]:
    named = resolved.scenario.programs
    pipelines = {name for name, program in resolved.programs.items() if program.runs_on_spark}
    for log in condition.log:
        if log.program is not None and log.program not in named:
            yield (*place, "log"), unknown_program(log.program, named)
        elif (log.program or resolved.main_name) in pipelines and log.event not in LOGGED:
            known = near_miss(log.event, sorted(LOGGED))
            yield (*place, "log"), f"the pipeline writes no event {log.event!r}; {known}"


def _check_metrics(resolved: ResolvedScenario, condition: Condition, place: Location) -> Iterator[tuple[Location, str]]:
    named = resolved.scenario.programs
    for metric in condition.metric:
        if metric.program is not None and metric.program not in named:
            yield (*place, "metric"), unknown_program(metric.program, named)
            continue
        programs = [arm.programs[metric.program or resolved.main_name] for arm in resolved.arms.values()]
        if any(program.refusal for program in programs):
            continue
        configured = [program.configured for program in programs]
        pages = [program.metrics for program in configured if program.metrics is not None]
        if not any(program.serves_metrics for program in configured):
            yield (*place, "metric"), "no arm serves metrics: set metrics.port (0 takes a free one) in `pipeline`"
        elif len(pages) == len(configured):
            for _, text in find_unserved(metric, pages):
                yield (*place, "metric"), text
