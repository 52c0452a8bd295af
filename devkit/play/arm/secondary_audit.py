"""Audits the output of a program beside the main one, by the expected output of its own job.

This needs a program that reads the traffic, whose job has a truth, to whose topics no other program writes, and whose
checkpoint shows its committed offsets.

A program that reads what another one writes is not audited, as no generator states what its events have to be. The
other one's audit says whether these are right, and the triple store what has become of them.
"""

from contextlib import closing

from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import Replays
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.kafka.deferrals import DeferralTopic, DeferredEntries
from devkit.play.arm.arm import Arm
from devkit.play.arm.collection import delivery_audit
from devkit.programs.program_run import ProgramRun
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.program_truth import truth_of
from devkit.traffic.publish import ExpectedFate, Publisher


def audit_beside(arm: Arm, run: ProgramRun) -> Audit | None:
    """None if one of these conditions does not hold. Raises StackError."""
    topics = run.configured.topics
    truth = truth_of(run.configured, arm.context.stack.mock_api, arm.traffic.dump)
    if truth is None or not run.configured.reads_source or not run.is_started or _is_shared(arm, run):
        return None
    checkpoint, events = arm.checkpoint_of(run), _source_events(arm.publisher, topics, arm.expected_fate(truth))
    committed = checkpoint.committed()
    if not events or not committed:
        return None
    audit = delivery_audit(
        events, bootstrap=arm.bootstrap, topics=topics, truth=truth, client=arm.client, grown=arm.faults.grown
    )
    batches = run.state.batches
    again = batches.replayed_ranges(checkpoint.range_of) if batches.any_begun else None
    replays = Replays(run.supervisor.restarts, again, tuple(run.state.retried), batches.begun)
    return audit.finish(committed, _deferred_entries(arm.bootstrap, topics), replays)


def _is_shared(arm: Arm, run: ProgramRun) -> bool:
    """Whether records of other programs may be in its topics."""
    own = {run.configured.topics.output, *run.configured.topics.errors}
    writers = [other.configured for other in arm.programs if other is not run and other.configured.reads_source]
    return any(own & {writer.topics.output, *writer.topics.errors} for writer in writers)


def _source_events(publisher: Publisher, topics: ProgramTopics, fate: ExpectedFate) -> list[SourceEvent]:
    """The events published to its source topics, with the fates by its own job."""
    events = []
    for entry, record in zip(publisher.manifest().entries, publisher.sent(), strict=True):
        if entry.topic in topics.sources:
            expected = fate(entry.topic, record.value, record.expected)
            own = entry.model_copy(update={"expected": expected})
            events.append(SourceEvent(own, record.key, record.value))
    return events


def _deferred_entries(bootstrap: str, topics: ProgramTopics) -> DeferredEntries:
    if not topics.defers:
        return DeferredEntries()
    with closing(DeferralTopic(bootstrap, topics.deferral)) as topic:
        topic.catch_up()
        return topic.entries
