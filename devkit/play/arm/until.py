"""Whether an arm has come to its end: one of its conditions, else its deadline."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from devkit.observe.arm_end import ArmEnd, EndByCondition, EndByDeadline
from devkit.observe.samples.metrics import Page
from devkit.scenario.arm_ending import Condition, Until


@dataclass(frozen=True)
class SoFar:
    """What conditions ask for. `elapsed_s` is since the arm began, without its warm-up, `running_for_s` since the main
    program first ran and was warm, None where it has not yet. `log` counts the events that
    each program wrote, by the program's name, and `metrics` is the last page of the main one's newest process.
    """

    drained: bool = False
    restarts: int = 0
    replays: int = 0
    gave_up: bool = False
    elapsed_s: float = 0.0
    running_for_s: float | None = None
    log: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    metrics: Page = field(default_factory=dict)


def arm_end(until: Until, so_far: SoFar, main: str, *, deadline_s: float) -> ArmEnd | None:
    """None while the arm goes on. `main` is the name of the main program.

    `deadline_s` is given besides `until`, as an arm that is debugged has none.
    """
    found = reached(until.condition, so_far, main)
    if found is not None:
        return EndByCondition(reached=found)
    return deadline_end(so_far, deadline_s=deadline_s)


def deadline_end(so_far: SoFar, *, deadline_s: float) -> EndByDeadline | None:
    """None before the deadline."""
    return EndByDeadline(deadline_s=deadline_s) if so_far.elapsed_s > deadline_s else None


def reached(condition: Condition, so_far: SoFar, main: str) -> dict[str, float] | None:
    """What has been reached of everything that it asks for; None where something has not been."""
    found: dict[str, float] = {}
    for name in ("drained", "restarts", "replays", "gave_up"):
        wanted, now = getattr(condition, name), getattr(so_far, name)
        if wanted is not None:
            if now < wanted:
                return None
            found[name] = int(now)
    if condition.elapsed is not None:
        if so_far.elapsed_s < condition.elapsed.total_seconds():
            return None
        found["elapsed"] = round(so_far.elapsed_s, 1)
    if condition.running_for is not None:
        if so_far.running_for_s is None or so_far.running_for_s < condition.running_for.total_seconds():
            return None
        found["running_for"] = round(so_far.running_for_s, 1)
    for log in condition.log:
        count = so_far.log.get(log.program or main, {}).get(log.event, 0)
        if count < log.at_least:
            return None
        found[f"log {log.event}"] = count
    for metric in condition.metric:
        values = [value for series, value in so_far.metrics.items() if metric.matches(series)]
        if not values or not metric.admits(sum(values)):
            return None
        found[f"metric {metric.name}"] = sum(values)
    for one in condition.all or ():
        if (inside := reached(one, so_far, main)) is None:
            return None
        found |= inside
    if condition.any is not None:
        first = next((inside for one in condition.any if (inside := reached(one, so_far, main)) is not None), None)
        if first is None:
            return None
        found |= first
    return found
