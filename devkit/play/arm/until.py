"""Whether an arm has come to its end: one of its conditions, else its deadline."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from devkit.observe.arm_end import ArmEnd, EndByCondition, EndByDeadline
from devkit.observe.samples.metrics import Page
from devkit.scenario.end_condition import Condition, Until


@dataclass(frozen=True)
class ArmStatus:
    """The state of an arm that conditions are checked against.

    `elapsed_s` counts from the arm's beginning, without its warm-up. `running_for_s` counts from when the main program
    first ran and was warm; None before that. `log` counts the events of each program, by the program's name. `metrics`
    has the last page of each program's newest process, by the program's name.
    """

    drained: bool = False
    restarts: int = 0
    replays: int = 0
    gave_up: bool = False
    elapsed_s: float = 0.0
    running_for_s: float | None = None
    log: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    metrics: Mapping[str, Page] = field(default_factory=dict)


def arm_end(until: Until, status: ArmStatus, main: str, *, deadline_s: float) -> ArmEnd | None:
    """None while the arm goes on. `main` is the name of the main program.

    `deadline_s` is given besides `until`, as an arm that is debugged has none.
    """
    values = reached(until.condition, status, main)
    if values is not None:
        return EndByCondition(reached=values)
    return deadline_end(status, deadline_s=deadline_s)


def deadline_end(status: ArmStatus, *, deadline_s: float) -> EndByDeadline | None:
    """None before the deadline."""
    return EndByDeadline(deadline_s=deadline_s) if status.elapsed_s > deadline_s else None


def reached(condition: Condition, status: ArmStatus, main: str) -> dict[str, float] | None:
    """The values by which the whole condition is reached; None if some part of it is not."""
    values: dict[str, float] = {}
    for name in ("drained", "restarts", "replays", "gave_up"):
        wanted, now = getattr(condition, name), getattr(status, name)
        if wanted is not None:
            if now < wanted:
                return None
            values[name] = int(now)
    if condition.elapsed is not None:
        if status.elapsed_s < condition.elapsed.total_seconds():
            return None
        values["elapsed"] = round(status.elapsed_s, 1)
    if condition.running_for is not None:
        if status.running_for_s is None or status.running_for_s < condition.running_for.total_seconds():
            return None
        values["running_for"] = round(status.running_for_s, 1)
    for log in condition.log:
        count = status.log.get(log.program or main, {}).get(log.event, 0)
        if count < log.at_least:
            return None
        values[f"log {log.event}"] = count
    for metric in condition.metric:
        page = status.metrics.get(metric.program or main, {})
        samples = [value for series, value in page.items() if metric.matches(series)]
        if not samples or not metric.admits(sum(samples)):
            return None
        values[f"metric {metric.name}"] = sum(samples)
    for part in condition.all or ():
        if (inside := reached(part, status, main)) is None:
            return None
        values |= inside
    if condition.any is not None:
        alternatives = (reached(part, status, main) for part in condition.any)
        first = next((inside for inside in alternatives if inside is not None), None)
        if first is None:
            return None
        values |= first
    return values
