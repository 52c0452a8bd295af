"""After an arm's end, audits its events and logs their latencies."""

from typing import cast

from devkit.observe.audit.replays import Replays
from devkit.observe.audit.wrong_outcomes import FILE, write_wrong_outcomes
from devkit.observe.expected_output.truth import StoredOutputs
from devkit.observe.store_difference import StoreDifference
from devkit.observe.timeline.kit_events import LatencyOfSecond
from devkit.observe.wikibase.store_comparison import compare_store
from devkit.play.arm.arm import Arm
from devkit.play.arm.collection import Collection, Ended, collection, pages_matched
from devkit.play.arm.secondary_audit import audit_beside


def collect(arm: Arm) -> None:
    """Raises StackError."""
    state, main = arm.state, arm.main
    assert state.end is not None
    assert state.counts is not None
    for run in arm.programs:
        arm.scrapers[run.name].write(run.context.directory)
    arm.log.ended(state.end)
    state.duration_s = arm.clock.now_s()
    not_observable = main.view.not_observable(arm.deferrals)
    arm.faults.look_for_records()
    may_have_failed = main.supervisor.exit_codes and "checkpoint" not in not_observable
    failed = arm.checkpoint.failed_range() if may_have_failed else None
    arm.publisher.manifest().write(arm.directory / "manifest.jsonl")
    mock = arm.context.stack.mock_api
    with arm.log.during("audit", "every input against its fate"):
        state.collection = collection(
            arm.traffic.source_events(arm.publisher),
            Ended(
                main.view.committed(),
                arm.deferrals.entries,
                failed,
                state.ended_ms,
                replays_of(arm),
                names_missing={"offsets", "sources"} & not_observable == {"offsets"},
            ),
            bootstrap=arm.bootstrap,
            topics=arm.topics,
            truth=arm.truth,
            client=arm.client,
            pages_matched=pages_matched(arm.scenario.mock.rules, mock, state.counts),
            left_out=state.warmed_up,
            grown=arm.faults.grown,
            jobs_beside=jobs_beside(arm),
        )
    write_wrong_outcomes(state.collection.unmet, arm.directory / FILE)
    state.store = _compare_store(arm)
    for run in arm.programs[1:]:
        if (audit := audit_beside(arm, run)) is not None:
            state.audits_beside[run.name] = audit
    log_latencies(arm, state.collection)


def _compare_store(arm: Arm) -> StoreDifference | None:
    """By the truth of the main program, whichever other programs are between it and the store."""
    store, truth = arm.context.stack.triple_store, cast("object", arm.truth)  # it may have both protocols
    if store is None or (applied := arm.applied) is None or not isinstance(truth, StoredOutputs):
        return None
    with arm.log.during("store", "every entity against its last revision"):
        truths = [*truth.stored(arm.traffic.source_events(arm.publisher))]
        return compare_store(store, truths, applied.graph)


def jobs_beside(arm: Arm) -> frozenset[str]:
    """The other jobs that write to an error topic of the main program.

    If another program has the same job, nothing shows which of the two wrote an error event.
    """
    main, *secondary = (run.configured for run in arm.programs)
    jobs = {
        program.config.job
        for program in secondary
        if program.config and program.reads_source and set(program.topics.errors) & set(main.topics.errors)
    }
    return frozenset(jobs - {main.config and main.config.job})


def replays_of(arm: Arm) -> Replays:
    """The offsets that the main program read again. Raises StackError."""
    main, not_observable = arm.main, arm.main.view.not_observable(arm.deferrals)
    has_batches = not not_observable & {"batches", "checkpoint"}
    again = main.state.batches.replayed_ranges(arm.checkpoint.range_of) if has_batches else None
    return Replays(main.supervisor.restarts, again, tuple(main.state.retried), main.state.batches.begun)


def log_latencies(arm: Arm, collection: Collection) -> None:
    """Log latencies by the second in which an event was published, from the arm's beginning on."""
    began_ms = arm.clock.began_ms + round(1000 * arm.state.paused_before_traffic_s)
    for at_s, latencies in collection.latencies.by_second(began_ms):
        figures = latencies.figures()
        arm.log.add(
            LatencyOfSecond(
                at_s=at_s,
                count=len(latencies.events),
                waiting=figures.waiting,
                p50_s=figures.p50_s,
                p95_s=figures.p95_s,
                p99_s=figures.p99_s,
            )
        )
