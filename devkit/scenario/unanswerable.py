"""Expectations that nothing in the scenario's own file can ever meet or break, whatever happens in the run."""

from collections.abc import Iterator

from pydantic import ValidationError

from devkit.expectations import Expectation
from devkit.expectations.log import LoggedEvent
from devkit.expectations.metric import MetricPattern
from devkit.expectations.refused import RefusalPattern
from devkit.expectations.success_rate import SuccessRate
from devkit.observe.logs import LOGGED
from devkit.programs.places import NOWHERE
from devkit.scenario.arm_name import ARMS, ArmName
from devkit.scenario.configure import configured, programs_of
from devkit.scenario.model import Scenario
from located_config.near import near_miss, nearest


def unanswerable(scenario: Scenario, arm: ArmName, expectation: Expectation) -> Iterator[tuple[str, str]]:
    """What is wrong, behind the key of the expectation's argument where it stands; "" is the expectation itself."""
    argument, named = expectation.argument, expectation.program
    if named is not None and named not in scenario.programs:
        known = near_miss(named, scenario.programs) if scenario.programs else "`programs` names none"
        yield "program", f"there is no program {named!r}; {known}"
    elif isinstance(argument, LoggedEvent) and argument.event not in LOGGED:
        programs = programs_of(scenario)
        program = programs[named] if named else next(iter(programs.values()))
        if not program.command and (near := nearest(argument.event, LOGGED)):
            yield "event", f"the pipeline writes no event {argument.event!r}; did you mean {near!r}?"
    if isinstance(argument, SuccessRate) and argument.of == "after fault" and not scenario.mock.fault_over:
        yield "of", "no fault ends: give a rule of mock.rules a window with `for`, or measure `all`"
    if isinstance(argument, RefusalPattern) and scenario.tried_first.of(arm) is None:
        yield "", f"no start is tried first in this arm: say in tried_first.{arm} what is"
    if expectation.kind in ("container_kills", "peak_memory") and scenario.container is None:
        yield "", "the scenario gives its programs no container: say `container: {memory: 2GiB}`"
    if isinstance(argument, MetricPattern):
        if not _serves_metrics(scenario, arm):
            yield "", "this arm serves no metrics: set metrics.port (0 takes a free one) in `pipeline`"
        elif expectation.kind == "metric_missing" and argument.name not in _shown_elsewhere(scenario, arm):
            yield (
                "name",
                "no metric_exists of the other arm asks for it, so it could be misspelt and it would be overlooked",
            )


def _serves_metrics(scenario: Scenario, arm: ArmName) -> bool:
    try:
        return configured(scenario, arm, NOWHERE).serves_metrics
    except ValidationError:
        return True  # which is told by itself


def _shown_elsewhere(scenario: Scenario, arm: ArmName) -> set[str]:
    arguments = (
        expectation.argument
        for other in ARMS
        if other != arm
        for expectation in scenario.expect.of(other)
        if expectation.kind == "metric_exists"
    )
    return {argument.name for argument in arguments if isinstance(argument, MetricPattern)}
