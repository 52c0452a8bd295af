"""Warnings of `check` and `run`: statements that are valid, but more often a slip."""

import math
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import chain

from devkit.observe.arm_role import in_role
from devkit.observe.expected_output.registry import TRUTHS
from devkit.observe.expected_output.truth import SourcesOfOutput
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedScenario
from devkit.scenario.source_location import location_of, locations_of
from devkit.scenario.undeclared_differences import undeclared_differences
from devkit.scenario.validate.causes import can_be_cause
from located_config.count import counted
from located_config.duration import format_duration
from located_config.place import Location
from located_config.problem import Problem
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import UNSAFE

_USUAL_START = timedelta(seconds=8)
"""Duration of a job's start on an idle machine with a class cache."""
_SPARK_RUNS = timedelta(seconds=20)
"""A time after which a job has run for a while on most machines."""
_TOPICS: tuple[Location, ...] = (
    ("source", "topic"),
    ("sink", "topic"),
    ("sink", "error_topic"),
    ("sink", "fetch_failure_topic"),
    ("deferral", "topic"),
)


def find_warnings(resolved: ResolvedScenario) -> Iterator[Problem]:
    """The warnings for a scenario that can be played."""
    scenario, difference = resolved.scenario, resolved.difference
    fixes = in_role(scenario.roles, "fixed")
    if any(not key.startswith("timeline.") for key in difference):
        met = {item.name for arm in fixes for item in scenario.timeline_of(arm)}
        for place, item, _ in scenario.timeline_at():
            if item.name not in met and not scenario.absent_in(item.name):
                shared = place[0] == "timeline"
                remedy = "leave `arms` out" if shared else "write it at the top"
                yield Problem(
                    (*place, "arms" if shared else "name"),
                    f"the fixed arm never meets {item.name!r}, so no run shows that it withstands it",
                    f"{remedy}, or name it in `cause` with `absent_in` where its absence is the fix",
                )
    yield from _find_fewer_partitions(scenario)
    for place in chain.from_iterable(locations_of(scenario, key) for key in _TOPICS):
        text = "the kit makes this topic afresh for each arm, and deletes what there is of the name"
        yield Problem(place, text, "leave it out")
    configured = {name: arm.main.configured.config for name, arm in resolved.arms.items()}
    configs = {name: config for name, config in configured.items() if config is not None}
    yield from _find_late_faults(scenario)
    yield from _find_late_windows(scenario)
    for key in filter(can_be_cause, undeclared_differences(resolved)):
        text = f"incident and fix differ in {key} as well, so the verdict may rest on it"
        yield Problem(("cause",), text, "name it, or give all arms the same")
    yield from _find_errors_of_writes(resolved)
    yield from _find_open_windows(scenario, configs.values())
    yield from _find_early_ends(resolved)
    yield from _find_documents_of_entities(scenario)
    yield from _find_early_faults(resolved)
    incidents = in_role(scenario.roles, "incident")
    for policy in UNSAFE:
        if len(configs) == len(resolved.arms) and any(policy.holds(configs[arm]) for arm in incidents):
            for arm in (arm for arm in fixes if policy.holds(configs[arm])):
                text = f"the {arm} arm has the unsafe {policy.text} as well"
                place = location_of(scenario, arm, tuple(policy.key.split(".")))
                remedy = "give it to the incident arm alone, or leave it if your deployment keeps it with the fix"
                yield Problem(place, text, remedy)


def _find_documents_of_entities(scenario: Scenario) -> Iterator[Problem]:
    for place, rule in scenario.rules_at():
        body = next((parameters for fault, parameters in rule.do.given() if fault.name == "body"), None)
        if rule.when.entity is not None and body is not None and any((body.size, body.bomb, body.incompressible)):
            text = "the document is HTML, where a program that asks for data of an entity expects Turtle"
            yield Problem((*place, "do", "body"), text, "leave the size out, unless that is meant")


def _find_fewer_partitions(scenario: Scenario) -> Iterator[Problem]:
    if scenario.traffic.from_ is None:
        return
    captured = max(scenario.traffic.from_.outline.topics.values())
    count = scenario.kafka.topics.source.partitions
    if count < captured:
        yield Problem(
            ("traffic", "from"),
            f"its topic has {counted(captured, 'partition')}, and the source topic here {count}: several share one",
            f"write `kafka: {{ topics: {{ source: {{ partitions: {captured} }} }} }}`, unless that is meant",
        )


def _find_late_faults(scenario: Scenario) -> Iterator[Problem]:
    """Faults after the end of the traffic, in arms that end when they have drained."""
    last = scenario.traffic.last_event
    if not scenario.until.condition.by_drained_alone:
        return
    for place, item, _ in scenario.timeline_at():
        if item.at is not None and item.at > last:
            published = format_duration(timedelta(seconds=math.ceil(last.total_seconds())))
            yield Problem(
                (*place, "at"),
                f"the last event is published within {published}, and an arm that has drained is over: this may never "
                "come",
                "let it begin earlier, or by a condition such as `when: { committed: 50% }`",
            )


def _find_late_windows(scenario: Scenario) -> Iterator[Problem]:
    """Windows of mock rules that may open after all requests, in arms that end when they have drained."""
    if not scenario.until.condition.by_drained_alone:
        return
    requests_for = scenario.traffic.last_event
    if scenario.traffic_begins != "when running":  # what is published before the job runs is fetched at once
        requests_for -= _USUAL_START if scenario.traffic_begins == "at once" else requests_for
    for place, rule in scenario.rules_at():
        window = rule.when.window
        if window is None or window.from_ <= timedelta(0) or window.from_ < requests_for:
            continue
        lasts = format_duration(max(requests_for, timedelta(0)))
        remedy = "let it begin earlier"
        if scenario.traffic_begins != "when running":
            remedy += ", or write `traffic_begins: when running`"
        yield Problem(
            (*place, "when", "window", "from"),
            f"it counts from the first request, and events come for {lasts} after that: all requests may be over",
            remedy,
        )


def _find_errors_of_writes(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Errors of the wiki for requests that write, in rules that select only others. The kit's programs never write."""
    has_command = any(program.command for program in resolved.programs.values())
    for place, rule in resolved.scenario.rules_at():
        if (code := rule.error_of_writes) is not None and (rule.when.selects_reads or not has_command):
            yield Problem(
                (*place, "do", "error"),
                f"MediaWiki has the error {code} for requests that write, and this rule selects only requests that "
                "read: they are answered as without it",
                "for a wiki that refuses reads so, write the answer: `status: { code: 200, body: … }`, as in "
                "docs/faults.md",
            )


def _find_open_windows(scenario: Scenario, configs: Iterable[PipelineConfig]) -> Iterator[Problem]:
    """An end with the last commit, for a job that emits its last windows in a later batch."""
    if not scenario.until.condition.by_drained_alone:
        return
    for job in sorted({config.job for config in configs}):
        truth = TRUTHS.get(job)
        if isinstance(truth, type) and issubclass(truth, SourcesOfOutput):
            yield Problem(
                ("until",),
                f"an arm that has drained is over, and the last windows of {job} leave in a batch after that: what is "
                "in them would count as lost",
                "write `{ drained: true, metric: { name: enrichment_state_rows, at_most: 2 } }`, for the closing "
                "canaries of two topics, and `pipeline: { metrics: { port: 0 } }`",
            )


def _find_early_ends(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Times that end an arm soon after its Spark has started."""
    until = resolved.scenario.until.condition
    if not resolved.main.runs_on_spark or until.surely_after is None or until.surely_after >= _SPARK_RUNS:
        return
    for place, condition in until.inside(("until",)):
        if condition.elapsed is not None and condition.elapsed < _SPARK_RUNS:
            yield Problem(
                (*place, "elapsed"),
                f"it counts from the arm's start, and Spark's own takes {format_duration(_USUAL_START)} or more: the "
                "arm may be over before anything is read",
                "write `running_for` for the time since the query runs, or a longer one",
            )


def _find_early_faults(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Faults that end before the main program's Spark runs: it may never meet them, although they act."""
    if not resolved.main.runs_on_spark:
        return
    for place, item, _ in resolved.scenario.timeline_at():
        if item.at is not None and item.for_ is not None and item.at + item.for_ <= _USUAL_START:
            over = format_duration(item.at + item.for_)
            yield Problem(
                (*place, "at"),
                f"it is over {over} after the arm's start, and Spark's own takes {format_duration(_USUAL_START)} or "
                "more: the program may never meet it",
                "let it begin by a condition such as `when: program running`, or later",
            )
