"""Expectations that a slip in a name, a policy of their arm, or their own bound has decided already, whatever happens
in the run.

What the pipeline logs, and which metrics and error types it has, is known beforehand; of a program of the user's own
it is not.
"""

from collections.abc import Iterator

from pydantic import ValidationError

from devkit.expectations import Expectation
from devkit.expectations.bounds import Count, Number
from devkit.expectations.error_events import ErrorEventPattern
from devkit.expectations.log import LoggedEvent
from devkit.expectations.metric import MetricPattern
from devkit.expectations.other_settings import OtherSettings
from devkit.observe.arm_role import ArmName
from devkit.observe.logs import LOGGED
from devkit.programs.places import NOWHERE
from devkit.programs.program import ConfiguredProgram, Program
from devkit.programs.spark.program import ConfiguredSpark
from devkit.scenario.configure import configured, keys_of, main_name, programs_of
from devkit.scenario.model import Scenario
from devkit.scenario.served_metrics import of_metric, served_by
from devkit.scenario.uncomparable import compared
from located_config.near import near_miss, nearest
from located_config.place import Location
from pipeline.records.error_types import ERROR_TYPES

_OF_DEFERRAL = ("deferred", "batch_budget")


def vacuous(
    scenario: Scenario, arm: ArmName, expectation: Expectation, instead: Program | None = None
) -> Iterator[tuple[Location, str]]:
    """What is wrong, behind the place of the expectation's argument; `instead` takes the main program's place."""
    argument, programs = expectation.argument, programs_of(scenario, instead)
    for other, inner in compared(scenario.roles, expectation):
        yield from (((inner.kind, *key), text) for key, text in vacuous(scenario, other, inner, instead))
    if expectation.kind == "amplification" and isinstance(argument, Number) and _is_any_amplification(argument):
        yield ("at_least",), "each fetch takes a request, so it is never below 1: write a higher bound, or at_most"
    name = expectation.program or main_name(scenario)
    if name not in programs:
        return  # which is told by itself
    found = {each: _configured(scenario, each, name, programs[name]) for each in scenario.roles}
    here = found[arm]
    if isinstance(argument, LoggedEvent) and isinstance(here, ConfiguredSpark) and argument.event not in LOGGED:
        known = near_miss(argument.event, sorted(LOGGED))
        yield ("event",), f"the pipeline writes no event {argument.event!r}; {known}"
    if isinstance(argument, ErrorEventPattern) and isinstance(here, ConfiguredSpark):
        wanted = argument.type
        if wanted is not None and wanted not in ERROR_TYPES:
            yield ("type",), f"the pipeline has no error type {wanted!r}; {near_miss(wanted, sorted(ERROR_TYPES))}"
    if isinstance(argument, MetricPattern):
        arms = tuple(scenario.roles) if expectation.kind == "metric_missing" else (arm,)
        served = [served_by(one.config) for each in arms if isinstance(one := found[each], ConfiguredSpark)]
        if len(served) == len(arms):
            yield from of_metric(argument, {series: labels for each in served for series, labels in each.items()})
    if isinstance(argument, OtherSettings) and argument.key is not None and here is not None:
        known_keys = tuple(keys_of(here.effective()))
        if argument.key not in known_keys:
            near = nearest(argument.key, known_keys)
            remedy = f"did you mean {near!r}?" if near else "docs/reference/configuration.md has all of them"
            yield ("key",), f"its configuration has no key {argument.key!r}; {remedy}"
    is_deferring = here is None or here.topics.defers
    if not is_deferring and expectation.kind in _OF_DEFERRAL and isinstance(argument, Count) and argument.at_least:
        yield (), "nothing is deferred in this arm: its deferral.policy is none"


def _is_any_amplification(bound: Number) -> bool:
    return bound.at_most is None and bound.at_least is not None and bound.at_least <= 1


def _configured(scenario: Scenario, arm: ArmName, name: str, program: Program) -> ConfiguredProgram | None:
    try:
        return configured(scenario, arm, NOWHERE, name, program)
    except ValidationError:
        return None  # which is told by itself
