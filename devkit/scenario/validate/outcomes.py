"""Expectations that a slip in a name, a policy of their arm, or their own bound has decided already, whatever happens
in the run.

What the pipeline logs, and which metrics and error types it has, is known beforehand; of a program of the user's own
it is not.
"""

from collections.abc import Iterator

from devkit.expectations import Expectation
from devkit.expectations.bounds import Count, Number
from devkit.expectations.error_events import ErrorEventPattern
from devkit.expectations.log import LoggedEvent
from devkit.expectations.metric import MetricPattern
from devkit.expectations.other_settings import OtherSettings
from devkit.observe.logs import LOGGED
from devkit.programs.spark.program import ConfiguredSpark
from devkit.scenario.resolve import ResolvedArm, ResolvedScenario, keys_of
from devkit.scenario.validate.compare import compared
from devkit.scenario.validate.metrics import check_metric, served_metrics
from devkit.scenario.validate.traffic import unknown_error_type
from located_config.near import near_miss, nearest
from located_config.place import Location

_OF_DEFERRAL = ("deferred", "batch_budget")


def check_outcome(
    resolved: ResolvedScenario, arm: ResolvedArm, expectation: Expectation
) -> Iterator[tuple[Location, str]]:
    """What is wrong, behind the place of the expectation's argument."""
    argument = expectation.argument
    for other, inner in compared(resolved.arms, expectation):
        yield from (((inner.kind, *key), text) for key, text in check_outcome(resolved, resolved.arms[other], inner))
    if expectation.kind == "amplification" and isinstance(argument, Number) and _is_any_amplification(argument):
        yield ("at_least",), "each fetch takes a request, so it is never below 1: write a higher bound, or at_most"
    name = expectation.program or resolved.main_name
    if name not in resolved.programs:
        return  # an unknown program is reported by `check_expectation`
    found = {each: one.programs[name].if_valid for each, one in resolved.arms.items()}
    here = found[arm.name]
    if isinstance(argument, LoggedEvent) and isinstance(here, ConfiguredSpark) and argument.event not in LOGGED:
        known = near_miss(argument.event, sorted(LOGGED))
        yield ("event",), f"the pipeline writes no event {argument.event!r}; {known}"
    if isinstance(argument, ErrorEventPattern) and isinstance(here, ConfiguredSpark):
        wrong = "" if argument.type is None else unknown_error_type(argument.type)
        if wrong:
            yield ("type",), wrong
    if isinstance(argument, MetricPattern):
        arms = tuple(resolved.arms) if expectation.kind == "metric_missing" else (arm.name,)
        served = [served_metrics(one.config) for each in arms if isinstance(one := found[each], ConfiguredSpark)]
        if len(served) == len(arms):
            yield from check_metric(argument, {series: labels for each in served for series, labels in each.items()})
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
