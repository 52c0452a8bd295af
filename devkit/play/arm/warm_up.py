"""Warms up a program before its arm's traffic begins: the first batch of a cold program takes seconds for imports.

1. When its query runs, an edit of an extra page is published to each source partition. The mock knows only these pages.
2. When all are emitted and committed, the mock gets the scenario's pages and rules, and its counters begin anew.
3. Samples, audit, deferrals and conditions on batches ignore the warm-up; the deadline is later by its duration.

Committed offsets, the arm's clock and the program's own metrics include the warm-up.

All arms of a scenario are warmed up, or none (`reason_against`). If a warm-up does not end, the arm goes on cold and
its result says so: a program that never commits may be the incident.
"""

import time
from collections.abc import Callable

from devkit.faults.condition import RequestSeen
from devkit.observe.checkpoint import Offsets, of_topic
from devkit.observe.timeline.kit_events import WarmedUp
from devkit.play.arm.arm import Arm
from devkit.play.arm.arm_faults import BATCH_EVENTS
from devkit.play.arm.sampling import count_emitted
from located_config.count import counted

_POLL_S = 0.2


def warm_up(arm: Arm, sleep: Callable[[float], None] = time.sleep) -> None:
    """Warm up the running main program before the traffic begins. Raises StackError."""
    began_s, mock, topic = arm.clock.now_s(), arm.context.stack.mock_api, arm.topics.source
    traffic = arm.traffic.warm_up(arm.scenario.kafka.topics.source.partitions)
    mock.populate(seed=arm.scenario.traffic.seed, catalog=traffic.catalog(), rules=())
    offsets = traffic.publish(arm.bootstrap, topic)
    arm.state.warmed_up = frozenset((topic, partition, offset) for partition, offset in offsets.items())
    arm.deferrals.entries.leave_out(arm.state.warmed_up)
    ends = of_topic(topic, {partition: offset + 1 for partition, offset in offsets.items()})
    problem = _await_commit(arm, ends, sleep)
    fetches = mock.counts().fetches
    populate(arm)
    arm.sampler.count_from_now(ends)
    arm.main.state.count_batches_from_now()
    arm.state.warm_up_s = arm.clock.now_s() - began_s
    arm.log.add(WarmedUp(offsets=offsets, fetches=fetches, seconds=round(arm.state.warm_up_s, 3), problem=problem))
    if problem is None:
        arm.log.say(
            "warm-up",
            f"{counted(len(offsets), 'event')}, {counted(fetches, 'fetch', 'fetches')}, {arm.state.warm_up_s:.1f}s",
        )
    else:
        arm.log.say("warm-up", f"broken off: {problem}")
        arm.state.cold = f"it began cold, as its warm-up was broken off: {problem}"


def can_be_warmed_up(arm: Arm) -> bool:
    """Whether the arm is warmed up; the log says why not. Called before its programs run."""
    reason = reason_against(arm)
    if reason is not None:
        arm.log.say("warm-up", f"none: {reason}")
    return reason is None


def reason_against(arm: Arm) -> str | None:
    """Why the arms of this scenario are not warmed up; None if they are."""
    scenario, view = arm.scenario, arm.main.view
    if readers := [run.name for run in arm.programs[1:] if run.configured.reads_source]:
        return f"program {readers[0]} reads the source as well, and what it makes of a warm-up is not observed"
    if not (view.says_when_it_runs and view.has_checkpoint):
        return "the program does not say when it runs, or keeps no checkpoint in Spark's layout"
    if scenario.traffic.generator != "page_change":
        return "a warm-up is made of page changes, and the source topic has other events"
    if scenario.traffic_begins != "when running":
        return f"the traffic begins {scenario.traffic_begins}, and its backlog is what the first query has to meet"
    if scenario.traffic.own_event_time is not None:
        return "events carry times of their own, and those of a warm-up would be ahead of or behind them all"
    if any(overlay is not None for overlay in scenario.tried_first.values()):
        return "the incident is one of the start"
    if any(settings.steps for settings in scenario.arms.values()):
        return "an arm has steps, and begins as they say"
    if started := [name for name, settings in scenario.arms.items() if settings.start != "earliest"]:
        return f"arm {started[0]} may begin behind a warm-up, which it would then never commit"
    items = [item for _, item, _ in scenario.timeline_at()]
    if any(item.at is not None for item in items):
        return "a fault comes at a moment of the arm, which a warm-up would move"
    if any(isinstance(item.when, RequestSeen) for item in items):
        return "a fault comes at a request to the object store, and the warm-up has such requests of its own"
    if arm.context.debugger is not None:
        return "the debugger would stop in it"
    return None


def populate(arm: Arm) -> None:
    """Give the mock the traffic's pages and the rules; its counters begin anew. Raises StackError."""
    scenario = arm.scenario
    arm.context.stack.mock_api.populate(
        seed=scenario.traffic.seed,
        catalog=arm.traffic.catalog(),
        rules=[rule.at_the_start() for rule in scenario.mock.rules],
    )


def _await_commit(arm: Arm, ends: Offsets, sleep: Callable[[float], None]) -> str | None:
    """Wait until all events are emitted and committed, for at most the arm's deadline; return why they were not.

    Raises StackError.
    """
    patience_s = arm.scenario.until.deadline.total_seconds()
    until_s = arm.clock.now_s() + patience_s
    while True:
        for line in arm.main.poll():
            arm.events[arm.main.name].take(line)
            if not isinstance(line, BATCH_EVENTS):
                arm.faults.note(line)
        arm.context.stack.require_running()
        if not arm.main.is_running:
            return "the process ended in it"
        committed = arm.checkpoint.committed()
        if all(committed.get(partition, 0) >= end for partition, end in ends.items()) and count_emitted(arm) >= len(
            ends
        ):
            return None
        if arm.clock.now_s() > until_s:
            return f"it was not committed within {patience_s:g} s"
        sleep(_POLL_S)
