"""Expectations that nothing in the scenario's own file can ever meet or break, whatever happens in the run."""

from collections.abc import Iterator

from pydantic import ValidationError

from devkit.expectations import Expectation
from devkit.expectations.audit import NOT_AUDITED
from devkit.expectations.audit_counts import AuditCounts
from devkit.expectations.error_events import ErrorEventPattern
from devkit.expectations.gave_up import GaveUp
from devkit.expectations.metric import MetricPattern
from devkit.expectations.never_ran import NeverRan
from devkit.expectations.refused import RefusalPattern
from devkit.expectations.success_rate import SuccessRate
from devkit.observe.arm_role import TWO_ARMS, ArmName
from devkit.programs.consumer import ConsumerProgram
from devkit.programs.places import NOWHERE
from devkit.programs.unknown import unknown_program
from devkit.scenario.configure import configured, main_name, main_program, programs_of
from devkit.scenario.model import Scenario
from devkit.scenario.uncomparable import compared, uncomparable
from devkit.scenario.unknown_parts import unknown_parts
from located_config.count import counted


def unanswerable(scenario: Scenario, arm: ArmName, expectation: Expectation) -> Iterator[tuple[str, str]]:
    """What is wrong, behind the key of the expectation's argument where it stands; "" is the expectation itself."""
    argument, named = expectation.argument, expectation.program
    yield from unknown_parts(scenario, arm, expectation)
    yield from uncomparable(tuple(scenario.roles), arm, expectation)
    for other, inner in compared(scenario.roles, expectation):
        yield from ((inner.kind, text) for _, text in unanswerable(scenario, other, inner))
    if named is not None and named not in scenario.programs:
        yield "program", unknown_program(named, scenario.programs)
    if isinstance(argument, SuccessRate) and argument.of == "after fault" and not scenario.for_arm(arm).mock.fault_over:
        yield "of", "no fault ends: give a rule of mock.rules a window with `for`, or measure `all`"
    if isinstance(argument, GaveUp) and argument.it_did and scenario.supervisor_of(arm).attempts is None:
        yield "", "this arm's supervisor never gives up: write `supervisor: { attempts: 3 }`"
    if isinstance(argument, RefusalPattern) and main_program(scenario).command:
        yield "", "the exit codes of a command are its own, so nothing shows that it refused its start"
    if isinstance(argument, NeverRan) and _says_nothing(scenario, named):
        yield "", "nothing shows when this program runs: only a pipeline says that"
    if expectation.kind in ("container_kills", "peak_memory") and scenario.for_arm(arm).container is None:
        yield "", "the scenario gives its programs no container: say `container: {memory: 2GiB}`"
    if expectation.kind == "audit" and not _has_truth(scenario, arm):
        yield "", f"the main program is {NOT_AUDITED}: docs/extend.md shows how a job brings it"
    if isinstance(argument, ErrorEventPattern) and (argument.at_least or 0) > scenario.traffic.event_count:
        yield "at_least", f"its traffic has {counted(scenario.traffic.event_count, 'event')}"
    if isinstance(argument, AuditCounts):
        yield from _beyond_the_traffic(scenario, argument)
    if isinstance(argument, MetricPattern):
        if not _serves_metrics(scenario, arm):
            yield "", "this arm serves no metrics: set metrics.port (0 takes a free one) in `pipeline`"
        elif expectation.kind == "metric_missing" and not _is_shown_elsewhere(scenario, arm, argument):
            others = "another arm" if len(scenario.roles) > len(TWO_ARMS) else "the other arm"
            with_labels = " with these labels" if argument.labels else ""
            yield (
                "name",
                f"no metric_exists of {others} asks for it{with_labels}, so it could be misspelt and it would be "
                "overlooked",
            )


def _says_nothing(scenario: Scenario, named: str | None) -> bool:
    program = programs_of(scenario).get(named or main_name(scenario))
    return program is not None and (bool(program.command) or isinstance(program, ConsumerProgram))


_OF_EVENTS = ("lost", "lapsed", "deduplicated", "repeats_emitted", "misrouted", "out_of_order")
"""Counts of the audit in which an event counts once."""


def _beyond_the_traffic(scenario: Scenario, wanted: AuditCounts) -> Iterator[tuple[str, str]]:
    events = scenario.traffic.event_count
    for name in _OF_EVENTS:
        bound = wanted.bounds.get(name)
        if bound is not None and bound.at_least is not None and bound.at_least > events:
            yield name, f"no run has {bound.at_least}: its traffic has {counted(events, 'event')}"


def _has_truth(scenario: Scenario, arm: ArmName) -> bool:
    try:
        return configured(scenario, arm, NOWHERE).truth is not None
    except ValidationError:
        return True  # which is told by itself


def _serves_metrics(scenario: Scenario, arm: ArmName) -> bool:
    try:
        return configured(scenario, arm, NOWHERE).serves_metrics
    except ValidationError:
        return True  # which is told by itself


def _is_shown_elsewhere(scenario: Scenario, arm: ArmName, missing: MetricPattern) -> bool:
    """Whether another arm has to show a series that the pattern matches."""
    shown = (
        expectation.argument
        for other in scenario.roles
        if other != arm
        for expectation in scenario.expected_of(other)
        if expectation.kind == "metric_exists"
    )
    return any(
        isinstance(one, MetricPattern) and missing.matches((one.name, frozenset(one.labels.items()))) for one in shown
    )
