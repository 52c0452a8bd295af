"""The loop of an arm: polls programs, stack and topics until a condition or the deadline is reached."""

import math
import time
from collections.abc import Callable
from datetime import timedelta

from devkit.debug.debugger import CAVEAT
from devkit.errors import StackError
from devkit.observe.arm_end import ArmEnd, EndByRefusal, EndByStep
from devkit.play.arm.arm import Arm
from devkit.play.arm.sampling import take_sample
from devkit.play.arm.start import begin_traffic, start_due
from devkit.play.arm.steps import ArmSteps
from devkit.play.arm.until import ArmStatus, arm_end, deadline_end
from devkit.play.arm.warm_up import can_be_warmed_up, warm_up

_POLL = timedelta(milliseconds=200)
_SAMPLING = timedelta(milliseconds=500)
_PAUSED = "it was paused while its query ran, so its times are not the scenario's"


def watch(arm: Arm, sleep: Callable[[float], None] = time.sleep) -> None:
    """Until the arm has come to its end. Raises StackError."""
    deadline_s = _deadline_s(arm)
    has_run, is_to_be_warm = False, can_be_warmed_up(arm)
    steps = ArmSteps(arm, lambda: arm_status(arm))
    next_sample_s = 0.0
    while True:
        start_due(arm)
        for run in arm.programs:
            for line in run.poll():
                arm.events[run.name].take(line)
                arm.faults.note(line, is_of_main=run is arm.main)
        if not has_run and arm.main.is_running:
            has_run = True
            if is_to_be_warm:
                warm_up(arm, sleep)
            arm.state.running_from_s = arm.clock.now_s()
            if arm.pause("pipeline") is not None:
                arm.state.caveats.append(_PAUSED)
        begin_traffic(arm)
        _require_stack(arm)
        if arm.clock.now_s() >= next_sample_s:
            _take_sample(arm)
            next_sample_s = arm.clock.now_s() + _SAMPLING.total_seconds()
        for hook in arm.hooks:
            hook.look()
        steps.advance()
        if end := has_ended(arm, deadline_s):
            _take_sample(arm)
            _require_samples(arm, end)
            arm.state.end, arm.state.ended_ms = end, arm.clock.wall_ms()
            return
        sleep(_POLL.total_seconds())


def _take_sample(arm: Arm) -> None:
    """Take a sample unless a fault keeps a part from answering, which would block the loop."""
    if not arm.faults.blinds:
        with arm.faults.excusing():
            take_sample(arm)


def _require_samples(arm: Arm, end: ArmEnd) -> None:
    """Raises StackError if the arm was never observable, as there is nothing to judge."""
    if not arm.state.samples:
        raise StackError(
            f"arm {arm.name} ended ({end.text}) before it could be observed: "
            "a fault of its timeline kept a part from answering all the while",
            hint="give the fault an end with `for`, or let it begin later",
        )


def has_ended(arm: Arm, deadline_s: float) -> ArmEnd | None:
    """Why the arm has ended; None while it goes on."""
    supervisor = arm.main.supervisor
    if (failed := arm.state.failed_step) is not None:
        return EndByStep(step=failed.number, did=failed.did)
    if arm.state.has_steps_to_take:
        return deadline_end(arm_status(arm), deadline_s=deadline_s)
    if supervisor.last_refusal is not None:
        return EndByRefusal()
    return arm_end(arm.scenario.until, arm_status(arm), arm.main.name, deadline_s=deadline_s)


def arm_status(arm: Arm) -> ArmStatus:
    """What conditions are checked against now."""
    main, now_s, from_s = arm.main, arm.clock.now_s(), arm.state.running_from_s
    return ArmStatus(
        drained=arm.has_drained,
        restarts=main.supervisor.restarts,
        replays=main.state.batches.replays,
        gave_up=main.supervisor.gave_up,
        elapsed_s=now_s - arm.state.warm_up_s,
        running_for_s=None if from_s is None else now_s - from_s,
        log={run.name: run.state.log for run in arm.programs},
        metrics={run.name: arm.scrapers[run.name].newest(run.state.processes) for run in arm.programs},
    )


def _deadline_s(arm: Arm) -> float:
    debugger = arm.context.debugger
    if debugger is None:
        return arm.scenario.until.deadline.total_seconds()
    arm.state.caveats.append(CAVEAT)
    arm.log.say("debug", debugger.invitation())
    return math.inf


def _require_stack(arm: Arm) -> None:
    arm.context.stack.require_running()
    if arm.publisher.error is not None:
        raise arm.publisher.error
