"""All that was seen of an arm, for its expectations to judge."""

import math

from devkit.observe.arm import ArmObservation
from devkit.observe.complaint import Complaint
from devkit.observe.deferrals import NoDeferrals
from devkit.observe.evidence import rule_evidence
from devkit.observe.kit_events import NotObservable
from devkit.observe.measure import measure, use_of
from devkit.observe.program import ProgramObservation
from devkit.observe.sight import Sight
from devkit.programs.run import ProgramRun
from devkit.scenario.arm.arm import Arm

_OF_MAIN: frozenset[Sight] = frozenset({"offsets", "deferrals", "sources"})


def observation(arm: Arm) -> ArmObservation:
    """Of an arm that has come to its end. Raises StackError."""
    state, main, found = arm.state, arm.main, arm.state.collection
    assert state.counts is not None
    assert state.end is not None
    assert found is not None
    rules, deferred = arm.scenario.mock.rules, arm.deferrals.standing
    unseen = unseen_of(arm)
    has_batches = not unseen & {"batches", "offsets"}
    batches = main.state.batches
    return ArmObservation(
        duration_s=state.duration_s,
        end=state.end,
        restarts=main.supervisor.restarts,
        replays=batches.replays,
        replayed_offsets=batches.replayed_offsets(arm.checkpoint.range_of) if has_batches else 0,
        past_failed_batch=found.past_failed_batch,
        drained=main.state.drained,
        exceptions=main.supervisor.exceptions(),
        failures=tuple(main.state.failures),
        stalls=tuple(main.state.stalls),
        programs=programs(arm, unseen),
        log=dict(main.state.log),
        ended_with=main.supervisor.ended_with,
        complaints=complaints(arm),
        last_sample=state.sample,
        figures=measure(
            state.samples,
            fault_over=arm.scenario.mock.fault_over,
            traffic_over_s=state.traffic_over_s,
            peak_queue=state.counts.upstream.max_queued,
            deferred_ever=len(deferred.ever),
            over_budget=len(deferred.over_budget),
            latencies=found.latencies,
            container=main.container.figures() if main.container else None,
        ),
        latencies=found.latencies,
        audit=found.audit,
        evidence=(*rule_evidence(rules, state.counts), *arm.faults.evidence()),
        unseen=unseen,
        left=main.state.left if "offsets" in unseen else None,
        caveats=(*state.caveats, *by_hand(arm)),
        metrics=arm.scraper.scraped(),
        tried_first=state.tried_first,
    )


def unseen_of(arm: Arm) -> frozenset[Sight]:
    """What the main program did not show, and what a fault took from sight. The timeline is told."""
    unseen = arm.main.view.unseen(arm.deferrals) | arm.faults.unseen
    if unseen:
        arm.log.add(NotObservable(sights=tuple(sorted(unseen))))
    return unseen


def complaints(arm: Arm) -> tuple[Complaint, ...]:
    """What the programs said first; those that a log has without a time come last."""
    found = [one for run in arm.programs for one in run.complaints()]
    return tuple(sorted(found, key=lambda one: math.inf if one.at_s is None else one.at_s))


def programs(arm: Arm, unseen_of_main: frozenset[Sight]) -> tuple[ProgramObservation, ...]:
    """Each program, where there are several. The timeline is told what the others did not show."""
    if len(arm.programs) == 1:
        return ()
    main, *others = arm.programs
    return _program(arm, main, unseen_of_main), *(_program(arm, run, _unseen_of(arm, run)) for run in others)


def _program(arm: Arm, run: ProgramRun, unseen: frozenset[Sight]) -> ProgramObservation:
    peak_memory_bytes, mean_cpu_cores = use_of(arm.state.samples, run.name)
    return ProgramObservation(
        name=run.name,
        run=arm.context.programs[run.name].command or arm.scenario.programs[run.name].run,
        started=run.is_started,
        restarts=run.supervisor.restarts,
        replays=run.state.batches.replays,
        exit_codes=tuple(run.supervisor.exit_codes),
        is_over=run.supervisor.is_over,
        failures=tuple(run.state.failures),
        stalls=tuple(run.state.stalls),
        exceptions=run.supervisor.exceptions(),
        log=dict(run.state.log),
        unseen=unseen,
        peak_memory_bytes=peak_memory_bytes,
        mean_cpu_cores=mean_cpu_cores,
        container=run.container.figures() if run.container else None,
    )


def _unseen_of(arm: Arm, run: ProgramRun) -> frozenset[Sight]:
    """Of one beside the main program neither checkpoint nor topics are looked at."""
    unseen = run.view.unseen(NoDeferrals()) | _OF_MAIN
    arm.log.of(run.name).add(NotObservable(sights=tuple(sorted(unseen))))
    return unseen


def by_hand(arm: Arm) -> tuple[str, ...]:
    """The faults that are not the scenario's, and those of it that are gone, as caveats. The mock keeps a rule that is
    over, so one that it does not have was removed, maybe after it had met requests.
    """
    assert arm.state.counts is not None
    ours = [rule.name for rule in arm.scenario.mock.rules]
    standing = {rule.name for rule in arm.context.stack.mock_api.rules()}
    strangers = [name for name in arm.state.counts.rules if name not in ours]
    return (
        *(f"fault {name!r} was put in by hand" for name in (*strangers, *arm.faults.by_hand)),
        *(f"fault {name!r} was removed by hand" for name in ours if name not in standing),
    )
