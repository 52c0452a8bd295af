"""Takes a sample of the arm and updates its state."""

from devkit.observe.kafka.emitted import Emitted, due_events
from devkit.play.arm.arm import Arm


def take_sample(arm: Arm, *, last: bool = False) -> None:
    """`last` is the sample after the programs' stop, which does not belong to the incident. Raises StackError."""
    state, main, publisher = arm.state, arm.main.state, arm.publisher
    # Before the sample: events published during it may lie behind the ends that it has.
    published_all = publisher.done and publisher.published == arm.traffic.count
    # Before the sample as well: what has been emitted lies before the programs that read it when they are looked at.
    emitted = look_at_emitted(arm, exact=last) if published_all else None
    look = arm.sampler.look(main.process)
    sample = look.sample.model_copy(update={"read_again": read_again(arm)})
    state.counts, state.sample = look.counts, sample
    if last or look.counts.revision != state.mock_revision:
        note_mock_changes(arm, look.counts.revision)
    main.committed, main.source_ends = look.committed, look.source_ends
    main.furthest |= {place: max(end, main.furthest.get(place, 0)) for place, end in look.committed.items()}
    if not last:
        state.samples.append(sample)
        for run in arm.programs:
            if run.state.metrics_url is not None:
                arm.scrapers[run.name].look(run.state.processes, run.state.metrics_url, sample.at_s)
    if published_all and state.traffic_over_s is None:
        state.traffic_over_s = sample.at_s
    # A topic without partitions in the sample has not drained.
    main.drained = (
        published_all
        and {topic for topic, _ in look.source_ends}.issuperset(arm.topics.sources)
        and all(look.committed.get(partition, 0) >= end for partition, end in look.source_ends.items())
        and not sample.deferred
        and (emitted is None or emitted.is_all)
    )
    if emitted is not None:
        main.emitted = emitted
    arm.main.view.look(publisher, sample, published_all=published_all, last=last)
    arm.log.add(sample)
    arm.context.progress.sample(arm.name, sample, shows_offsets=arm.main.view.shows_offsets, last=last)


def look_at_emitted(arm: Arm, *, exact: bool) -> Emitted | None:
    """Of a main program whose commits do not say that an event has left; None of another. Events before its beginning
    are not due. Raises StackError.
    """
    if arm.emissions is None:
        return None
    began = arm.checkpoint.began()
    due = {event for event in due_events(arm.publisher.manifest()) if event[2] >= began.get(event[:2], 0)}
    return arm.emissions.look(count_emitted(arm), due, exact=exact)


def count_emitted(arm: Arm) -> int:
    """Number of records that the main program has emitted. Raises StackError."""
    return sum(sum(arm.sampler.ends.of(topic).values()) for topic in arm.topics.written)


def read_again(arm: Arm) -> int:
    """Number of source offsets in repeated batches, 0 if not observable. Raises StackError if the checkpoint is
    unreadable.
    """
    main = arm.main
    batches = main.state.batches
    return batches.replayed_offsets(arm.checkpoint.range_of) if batches.replays and main.view.has_checkpoint else 0


def note_mock_changes(arm: Arm, revision: int) -> None:
    """Record them at once: a mock that a fault restarts forgets them. Raises StackError."""
    state = arm.state
    state.mock_revision = revision
    changes = arm.context.stack.mock_api.changes_by_others()
    state.mock_changes += [change for change in changes if change not in state.mock_changes]
