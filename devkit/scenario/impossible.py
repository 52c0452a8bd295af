"""Faults and programs that can never begin, or never in the way that is meant, by what the file itself says."""

import dataclasses
from collections.abc import Iterator
from typing import get_args

from devkit.faults.condition import Bounds
from devkit.scenario.model import Scenario
from devkit.scenario.programs import never_started
from located_config.duration import format_duration
from pipeline.events import PipelineEvent

_OF_PROCESS = ("process_started", "process_restarted", "process_ended")
_SAID = frozenset(
    [
        *_OF_PROCESS,
        *(
            str(field.default)
            for event in get_args(get_args(PipelineEvent)[0])
            for field in dataclasses.fields(event)
            if field.name == "event"
        ),
    ]
)
"""The events of an arm by name."""


def impossible(scenario: Scenario) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Where in the file, and what is wrong there."""
    rules = frozenset(rule.name for rule in scenario.mock.rules)
    bounds = Bounds(scenario.traffic.event_count, programs=frozenset(scenario.programs), said=_SAID, rules=rules)
    for number, item in enumerate(scenario.timeline):
        if item.name in rules:
            yield ("timeline", number, "name"), f"a rule of mock.rules has the name {item.name!r} as well"
        if item.at is not None and item.at >= scenario.until.deadline:
            deadline = format_duration(scenario.until.deadline)
            yield ("timeline", number, "at"), f"each arm ends at its deadline of {deadline}, before this begins"
        if item.do.brokers > scenario.kafka.brokers:
            few = f"needs at least {item.do.brokers} brokers, and kafka.brokers is {scenario.kafka.brokers}"
            yield ("timeline", number, "do", item.do.name), few
        if item.when is not None and (text := item.when.never(bounds)):
            yield ("timeline", number, "when"), text
    for place, text in never_started(scenario.programs):
        yield ("programs", *place), text
