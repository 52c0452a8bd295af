"""Collects all observations of an arm for its expectations."""

import math

from devkit.observe.arm_observation import ArmObservation, Phase
from devkit.observe.kafka.deferrals import NoDeferrals
from devkit.observe.logs.first_errors import Complaint
from devkit.observe.observable import Observable
from devkit.observe.program_observation import ONLY, ProgramObservation
from devkit.observe.rule_evidence import rule_evidence
from devkit.observe.samples.measure import measure, use_of
from devkit.observe.settings import OtherSetting, other_settings
from devkit.observe.timeline.kit_events import NotObservable
from devkit.play.arm.arm import Arm
from devkit.programs.program_run import ProgramRun
from devkit.stack.parts.mock_api import MockChange
from devkit.traffic.model import TRAFFIC

_MAIN_ONLY: frozenset[Observable] = frozenset({"offsets", "deferrals", "sources"})


def observation(arm: Arm) -> ArmObservation:
    """The observation of an ended arm. Raises StackError."""
    state, main, collection = arm.state, arm.main, arm.state.collection
    assert state.counts is not None
    assert state.end is not None
    assert collection is not None
    rules, deferred = arm.scenario.mock.rules, arm.deferrals.entries
    switches = {rule.name: arm.switches.done.get(rule.name, ()) for rule in rules if rule.has_window}
    not_observable = not_observable_of(arm)
    has_batches = not not_observable & {"batches", "checkpoint"}
    return ArmObservation(
        duration_s=state.duration_s,
        end=state.end,
        replayed_offsets=main.state.batches.replayed_offsets(arm.checkpoint.range_of) if has_batches else 0,
        past_failed_batch=collection.past_failed_batch,
        drained=arm.has_drained,
        programs=programs(arm, not_observable),
        complaints=complaints(arm),
        last_sample=state.sample,
        figures=measure(
            state.samples,
            fault_over=arm.scenario.mock.fault_over,
            traffic_over_s=state.traffic_over_s,
            peak_queue=state.counts.upstream.max_queued,
            deferred_ever=len(deferred.ever),
            over_budget=len(deferred.over_budget),
            latencies=collection.latencies,
            container=main.container.figures() if main.container else None,
        ),
        store=state.store,
        latencies=collection.latencies,
        audit=collection.audit,
        error_events=collection.error_events,
        samples=tuple(state.samples),
        phases=phases(arm),
        pages=arm.traffic.named_pages(),
        began_ms=arm.clock.began_ms,
        commits=tuple(main.state.commits),
        batches=tuple(main.state.batch_times),
        warm_batches=tuple(main.state.warm_batches),
        written_by_process=tuple(main.state.written_by_process),
        late_dropped=main.state.late_dropped,
        watermarks=tuple(main.state.watermarks),
        checkpoint=None if "checkpoint" in not_observable else arm.checkpoint.size(),
        stated_offsets=arm.stated_offsets(),
        evidence=(*rule_evidence(rules, state.counts, switches), *arm.faults.evidence()),
        not_observable=not_observable,
        emitted=main.state.emitted if arm.emissions is not None or "offsets" in not_observable else None,
        caveats=(*state.caveats, *manual_changes(arm)),
        cold=state.cold,
        tried_first=state.tried_first,
        steps=tuple(state.steps),
    )


def phases(arm: Arm) -> dict[str, Phase]:
    """The traffic, its phases, the timeline's faults that began, and the rules that the kit switched."""
    state = arm.state
    phases = {item.fault: Phase(item.from_s, item.to_s) for item in arm.faults.evidence() if item.from_s is not None}
    for rule in arm.scenario.mock.rules:
        if switched := {switch.on: switch.at_s for switch in arm.switches.done.get(rule.name, ())}:
            phases[rule.name] = Phase(switched.get(True, state.traffic_begun_s or 0.0), switched.get(False))
    if state.traffic_begun_s is not None:
        phases[TRAFFIC] = Phase(state.traffic_begun_s, state.traffic_over_s)
        for name, times in arm.scenario.traffic.named_phases.items():
            from_s, to_s = (state.traffic_begun_s + moment.total_seconds() for moment in times)
            if from_s < state.duration_s:
                phases[name] = Phase(from_s, to_s if to_s < state.duration_s else None)
    return phases


def not_observable_of(arm: Arm) -> frozenset[Observable]:
    """What the main program does not show, or a fault made unobservable. It is logged."""
    not_observable = arm.main.view.not_observable(arm.deferrals) | arm.faults.not_observable
    if not_observable:
        arm.log.add(NotObservable(observables=tuple(sorted(not_observable))))
    return not_observable


def complaints(arm: Arm) -> tuple[Complaint, ...]:
    """The first complaints of the programs; those without a time come last."""
    complaints = [complaint for run in arm.programs for complaint in run.complaints()]
    return tuple(sorted(complaints, key=lambda complaint: math.inf if complaint.at_s is None else complaint.at_s))


def programs(arm: Arm, not_observable_of_main: frozenset[Observable]) -> tuple[ProgramObservation, ...]:
    """The observation of each program, the main one first."""
    main, *secondary = arm.programs
    return _observe_program(arm, main, not_observable_of_main), *(
        _observe_program(arm, run, _secondary_not_observable(arm, run)) for run in secondary
    )


def _observe_program(arm: Arm, run: ProgramRun, not_observable: frozenset[Observable]) -> ProgramObservation:
    peak_memory_bytes, mean_cpu_cores = use_of(arm.state.samples, run.name)
    topics, audit = run.configured.topics, arm.state.audits_beside.get(run.name)
    state, supervisor, spec = run.state, run.supervisor, arm.scenario.programs.get(run.name)
    return ProgramObservation(
        name=run.name,
        run=arm.resolved.programs[run.name].program.command or (spec.run if spec else ONLY),
        started=run.is_started,
        restarts=supervisor.restarts,
        replays=state.batches.replays,
        exit_codes=tuple(supervisor.exit_codes),
        is_over=supervisor.is_over,
        gave_up=supervisor.gave_up,
        gave_up_after=supervisor.gave_up_after,
        refusal=supervisor.refusal,
        confirmed=state.confirmed,
        ran=has_run(arm, run),
        spark=state.spark,
        other_settings=changed_settings(run),
        environment=supervisor.process_start.environment if supervisor.process_start else None,
        command_line=supervisor.process_start.command_line if supervisor.process_start else None,
        failures=tuple(state.failures),
        stalls=tuple(state.stalls),
        exceptions=supervisor.exceptions(),
        log_files=supervisor.log_files(),
        log=dict(state.log),
        metrics=arm.scrapers[run.name].scraped(),
        not_observable=not_observable,
        peak_memory_bytes=peak_memory_bytes,
        mean_cpu_cores=mean_cpu_cores,
        container=run.container.figures() if run.container else None,
        unaudited="" if audit or topics.output in (arm.topics.output, *topics.sources) else topics.output,
        audit=audit,
    )


def has_run(arm: Arm, run: ProgramRun) -> bool | None:
    """Whether the program ran; None if it does not say so and other programs fetch and write as well.

    Raises StackError.
    """
    if run.view.says_when_it_runs:
        return run.state.has_run
    return run.view.shows_life() if len(arm.programs) == 1 else None


def changed_settings(run: ProgramRun) -> dict[str, OtherSetting] | None:
    """The settings that differ from the declared ones in its newest start; None if it logged no configuration."""
    confirmed = run.state.confirmed
    return None if confirmed is None else other_settings(run.current.effective(), confirmed)


def _secondary_not_observable(arm: Arm, run: ProgramRun) -> frozenset[Observable]:
    """Checkpoint and topics are observed for the main program only. The rest is logged."""
    not_observable = run.view.not_observable(NoDeferrals()) | _MAIN_ONLY
    arm.log.of(run.name).add(NotObservable(observables=tuple(sorted(not_observable))))
    return not_observable


def manual_changes(arm: Arm) -> tuple[str, ...]:
    """Caveats for changes that others than the run made to the arm's faults or to the mock."""
    return (
        *(text for change in arm.state.mock_changes for text in _describe_change(change)),
        *(f"fault {name!r} was put in by hand" for name in arm.faults.by_hand),
    )


def _describe_change(change: MockChange) -> tuple[str, ...]:
    who = " ".join(part for part in (change.author, f"at {change.client}" if change.client else "") if part)
    aside = f"({change.at:%H:%M:%S}{', ' if who else ''}{who})"
    match change.action:
        case "populated":
            return (f"the mock got other pages and rules by hand {aside}",)
        case "reset":
            return (f"the mock was reset by hand {aside}",)
        case "emptied the journal":
            return (f"the mock's journal was emptied by hand {aside}",)
        case "added":
            done = "put in"
        case action:
            done = action
    if not change.rules:
        return (f"the mock's rules were {done} by hand {aside}",)
    return tuple(f"fault {name!r} was {done} by hand {aside}" for name in change.rules)
