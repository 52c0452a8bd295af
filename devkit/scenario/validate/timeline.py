"""Checks for faults and programs that can never begin, or not as intended."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from devkit.faults.claims import clashes
from devkit.faults.condition import Bounds
from devkit.faults.fault import Fault
from devkit.faults.parts.copy import Copy
from devkit.faults.parts.restore import Restore
from devkit.faults.programs.target import ProcessFault
from devkit.faults.timeline_item import TimelineItem
from devkit.observe.logs.logs import LOGGED
from devkit.programs.program_topics import TOPIC_ROLES
from devkit.programs.unknown_program import unknown_program
from devkit.scenario.launch_settings import SCRATCH
from devkit.scenario.placeholders import OF_CONFIG, known_places, misspelt_places, unknown_places
from devkit.scenario.programs import never_started
from devkit.scenario.resolve import ResolvedArm, ResolvedScenario
from devkit.scenario.rule_window import impossible_windows
from devkit.scenario.validate.steps import check_steps
from devkit.stack.parts.part import part_names
from devkit.traffic.model import TRAFFIC
from located_config.duration import format_duration
from located_config.near import LIKE_BESIDE_OWN, near_miss, nearest
from located_config.place import Location

_PROCESS_EVENTS = ("process_started", "process_restarted", "process_ended", "supervisor_gave_up")
_EVENTS = LOGGED.union(_PROCESS_EVENTS)
"""The events of an arm by name."""


@runtime_checkable
class _TopicFault(Protocol):
    """A fault on a topic, which it names by its role in the arm or by its name; None for all."""

    @property
    def topic(self) -> str | None: ...


def check_timeline(resolved: ResolvedScenario) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Problems of the timeline, steps, launch settings and needs, with their places."""
    scenario = resolved.scenario
    rules = frozenset(rule.name for _, rule in scenario.rules_at())
    # The events of a user's own program are not known before it runs.
    logged = frozenset[str]() if any(program.command for program in resolved.programs.values()) else _EVENTS
    bounds = Bounds(scenario.traffic.event_count, programs=frozenset(scenario.programs), logged=logged, rules=rules)
    phases = {TRAFFIC, *scenario.traffic.named_phases}
    yield from impossible_windows(scenario.rules_at(), scenario.traffic.event_count, phases)
    ends_after = scenario.until.condition.surely_after
    items = list(scenario.timeline_at())
    parts = part_names(scenario.kafka.brokers, triple_store=resolved.needs_triple_store)
    copied = {arm for _, item, having in items if isinstance(item.do, Copy) for arm in having}
    for number, (place, item, arms) in enumerate(items):
        if item.name in rules:
            yield (*place, "name"), f"a rule of mock.rules has the name {item.name!r} as well"
        if item.name in phases:
            yield (*place, "name"), f"a part of the traffic is called {item.name!r} as well"
        if item.at is not None and item.at >= scenario.until.deadline:
            deadline = format_duration(scenario.until.deadline)
            late = f"each arm ends at its deadline of {deadline}, before this begins at {format_duration(item.at)}"
            yield (*place, "at"), f"{late}; let it begin earlier, or raise until.deadline"
        if item.at is not None and ends_after is not None and ends_after <= item.at:
            yield (*place, "at"), f"each arm ends after {format_duration(ends_after)} by `until`, before this begins"
        if item.do.brokers > scenario.kafka.brokers:
            few = f"needs at least {item.do.brokers} brokers, and kafka.brokers is {scenario.kafka.brokers}"
            yield (*place, "do", item.do.name), few
        for key, why in _check_target(item.do, parts):
            yield (*place, "do", item.do.name, key), why
        program = item.do.program if isinstance(item.do, ProcessFault) else None
        if program is not None and program not in scenario.programs:
            yield (*place, "do", item.do.name, "program"), unknown_program(program, sorted(scenario.programs))
        if isinstance(item.do, Restore) and (without_copy := arms - copied):
            without = ", ".join(sorted(without_copy))
            yield (*place, "do", item.do.name), f"has nothing to restore: no `copy` acts in {without}"
        for _, other, other_arms in items[:number]:
            if arms & other_arms and (both := _find_overlap(item, other)):
                held = f"acts on {', '.join(both)}, as {other.name!r} does then"
                yield (*place, "do", item.do.name), f"{held}; let one end before the other begins"
        if item.when is not None:
            without_deferral = sorted(arm for arm in arms if not _may_defer(resolved.arms[arm]))
            if text := item.when.never(replace(bounds, without_deferral=without_deferral)):
                yield (*place, "when"), text
    for arm, settings in scenario.arms.items():
        for name in settings.programs.keys() - scenario.programs.keys():
            yield ("arms", arm, "programs", name), unknown_program(name, scenario.programs)
    yield from check_steps(resolved)
    yield from _check_launches(resolved)
    for place, text in never_started(scenario.programs):
        yield ("programs", *place), text


def _may_defer(arm: ResolvedArm) -> bool:
    configured = [program.if_valid for program in arm.programs.values()]
    return any(one is None or one.topics.defers for one in configured)


def _check_launches(resolved: ResolvedScenario) -> Iterator[tuple[Location, str]]:
    """Spark's settings for another program, and unknown places in what the kit fills in."""
    launches = {
        place: (program.program, launch)
        for arm in resolved.arms.values()
        for program in arm.programs.values()
        for place, launch in program.launches.items()
    }
    known = known_places(OF_CONFIG, has_triple_store=resolved.needs_triple_store)
    for place, (program, launch) in launches.items():
        if not program.runs_on_spark:
            for key in ("slots", "executors", "spark"):
                if getattr(launch, key):
                    yield (*place, key), "only a pipeline runs on Spark; leave it out"
        arms = resolved.arms.values() if place[0] == "programs" else [resolved.arms[str(place[1])]]
        if launch.scratch is not None and any(arm.scenario.container for arm in arms):
            wrong = "with `container` each program has a directory of its own; leave it out"
            yield (*place, "environment", SCRATCH), wrong
        if launch.raw_config is not None:
            if not launch.raw_config.text.strip():
                yield (*place, "raw_config"), "says nothing; write a file's name, or the text"
            for text in unknown_places([launch.raw_config.text], known):
                yield (*place, "raw_config"), text
        for variable, value in launch.variables.items():
            for text in misspelt_places(value, known):
                yield (*place, "environment", variable), text
    for name, spec in resolved.scenario.programs.items():
        for text in misspelt_places(spec.run, known):
            yield ("programs", name, "run"), text


def _find_overlap(item: TimelineItem, other: TimelineItem) -> list[str]:
    """What two items change at the same time, as far as their times are known. Any gap between them is enough."""
    if item.at is None or other.at is None:
        return []
    first, second = (item, other) if item.at <= other.at else (other, item)
    assert first.at is not None
    assert second.at is not None
    if first.for_ is not None and first.at + first.for_ < second.at:
        return []
    if not first.do.lasts and first.at < second.at:
        return []  # how long it takes is not known
    return clashes(item.do.claims({}), other.do.claims({}))


def _check_target(fault: Fault, parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Parameters that name an unknown part or topic, with the problem."""
    for part in dict.fromkeys(need.part for need in fault.needs() if need.part not in parts):
        yield "part", f"the stack has no part {part!r}; {near_miss(part, parts)}"
    if not isinstance(fault, _TopicFault) or fault.topic is None:
        return
    near = nearest(fault.topic, TOPIC_ROLES, like=LIKE_BESIDE_OWN)
    if near not in (None, fault.topic):
        yield "topic", f"there is no topic {fault.topic!r}; did you mean {near!r}?"
