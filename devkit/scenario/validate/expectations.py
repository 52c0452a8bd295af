"""Expectations that nothing in the scenario's own file can ever meet or break, whatever happens in the run."""

from collections.abc import Iterator

from devkit.expectations import Expectation
from devkit.expectations.audit import NOT_AUDITED
from devkit.expectations.audit_counts import AuditCounts
from devkit.expectations.error_events import ErrorEventPattern
from devkit.expectations.gave_up import GaveUp
from devkit.expectations.metric import MetricPattern
from devkit.expectations.never_ran import NeverRan
from devkit.expectations.refused import RefusalPattern
from devkit.expectations.success_rate import SuccessRate
from devkit.observe.arm_role import TWO_ARMS
from devkit.programs.consumer import ConsumerProgram
from devkit.programs.unknown import unknown_program
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedArm, ResolvedScenario
from devkit.scenario.validate.compare import check_comparison, compared
from devkit.scenario.validate.references import check_references
from located_config.count import counted


def check_expectation(
    resolved: ResolvedScenario, arm: ResolvedArm, expectation: Expectation
) -> Iterator[tuple[str, str]]:
    """What is wrong, behind the key of the expectation's argument where it stands; "" is the expectation itself."""
    argument, named, scenario = expectation.argument, expectation.program, arm.scenario
    yield from check_references(arm, expectation)
    yield from check_comparison(tuple(resolved.arms), arm.name, expectation)
    for other, inner in compared(resolved.arms, expectation):
        yield from ((inner.kind, text) for _, text in check_expectation(resolved, resolved.arms[other], inner))
    if named is not None and named not in scenario.programs:
        yield "program", unknown_program(named, scenario.programs)
    if isinstance(argument, SuccessRate) and argument.of == "after fault" and not scenario.mock.fault_over:
        yield "of", "no fault ends: give a rule of mock.rules a window with `for`, or measure `all`"
    if isinstance(argument, GaveUp) and argument.it_did and arm.supervisor.attempts is None:
        yield "", "this arm's supervisor never gives up: write `supervisor: { attempts: 3 }`"
    if isinstance(argument, RefusalPattern) and arm.main.program.command:
        yield "", "the exit codes of a command are its own, so nothing shows that it refused its start"
    if isinstance(argument, NeverRan) and _says_nothing(arm, named):
        yield (
            "",
            "nothing shows whether this program runs: a pipeline says it, and a command that is alone",
        )
    if expectation.kind in ("container_kills", "peak_memory") and scenario.container is None:
        yield "", "the scenario gives its programs no container: say `container: {memory: 2GiB}`"
    if expectation.kind == "audit" and not arm.main.refusal and arm.main.configured.truth is None:
        yield "", f"the main program is {NOT_AUDITED}: docs/extend.md shows how a job brings it"
    if isinstance(argument, ErrorEventPattern) and (argument.at_least or 0) > scenario.traffic.event_count:
        yield "at_least", f"its traffic has {counted(scenario.traffic.event_count, 'event')}"
    if isinstance(argument, AuditCounts):
        yield from _beyond_the_traffic(scenario, argument)
    if isinstance(argument, MetricPattern):
        if not arm.main.refusal and not arm.main.configured.serves_metrics:
            yield "", "this arm serves no metrics: set metrics.port (0 takes a free one) in `pipeline`"
        elif expectation.kind == "metric_missing" and not _is_shown_elsewhere(arm, argument):
            others = "another arm" if len(resolved.arms) > len(TWO_ARMS) else "the other arm"
            with_labels = " with these labels" if argument.labels else ""
            yield (
                "name",
                f"no metric_exists of {others} asks for it{with_labels}, so it could be misspelt and it would be "
                "overlooked",
            )


def _says_nothing(arm: ResolvedArm, named: str | None) -> bool:
    found = arm.programs.get(named or arm.main.name)
    is_silent_command = found is not None and bool(found.program.command) and len(arm.programs) > 1
    return is_silent_command or (found is not None and isinstance(found.program, ConsumerProgram))


_OF_EVENTS = ("lost", "lapsed", "deduplicated", "repeats_emitted", "misrouted", "out_of_order")
"""Counts of the audit in which an event counts once."""


def _beyond_the_traffic(scenario: Scenario, wanted: AuditCounts) -> Iterator[tuple[str, str]]:
    events = scenario.traffic.event_count
    for name in _OF_EVENTS:
        bound = wanted.bounds.get(name)
        if bound is not None and bound.at_least is not None and bound.at_least > events:
            yield name, f"no run has {bound.at_least}: its traffic has {counted(events, 'event')}"


def _is_shown_elsewhere(arm: ResolvedArm, missing: MetricPattern) -> bool:
    """Whether another arm has to show a series that the pattern matches."""
    shown = (
        expectation.argument
        for other in arm.scenario.roles
        if other != arm.name
        for expectation in arm.scenario.expected_of(other)
        if expectation.kind == "metric_exists"
    )
    return any(
        isinstance(one, MetricPattern) and missing.matches((one.name, frozenset(one.labels.items()))) for one in shown
    )
