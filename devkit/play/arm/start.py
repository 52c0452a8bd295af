"""Starts and stops the programs of an arm, and begins its traffic."""

from devkit.observe.timeline.kit_events import ProcessStarted, TrafficBegun
from devkit.play.arm.arm import Arm
from devkit.play.arm.sampling import take_sample
from devkit.programs.launch import Addition
from devkit.programs.program_run import ProgramRun

_BROKER_DELAY_S = 120
"""Allowed for a slow broker, on top of the time that the traffic takes."""


def start(arm: Arm) -> None:
    """Start hooks and programs; they are ended in any case. Raises StackError."""
    arm.connect()
    publish_backlog(arm)
    for run in arm.programs:
        arm.stopping.callback(run.stop)
    arm.stopping.callback(arm.publishing_ends.set)
    for hook in arm.hooks:
        hook.begin()
        arm.stopping.callback(hook.end)
    start_due(arm)


def start_due(arm: Arm) -> None:
    """Start the programs whose needs run; the main one of an arm with steps is started by these."""
    running = {run.name for run in arm.programs if run.is_running}
    by_step = arm.main if arm.scenario.arms[arm.name].steps else None
    for run in arm.programs:
        if run is not by_step and not run.is_started and running.issuperset(run.policy.needs):
            run.start()
            _log_start(arm, run)


def start_main(arm: Arm, addition: Addition) -> None:
    """The first start of the main program, as a step of the arm. Raises StackError."""
    arm.main.start(addition)
    _log_start(arm, arm.main)


def stop(arm: Arm) -> None:
    """End the hooks, then the programs, handle their last events, and take the last sample. Raises StackError."""
    arm.stopping.close()
    for run in arm.programs:
        for line in run.rest():
            arm.events[run.name].take(line)
    arm.pause("arm-end")
    for run in arm.programs:
        run.state.process = None
    take_sample(arm, last=True)


def _log_start(arm: Arm, run: ProgramRun) -> None:
    log = arm.log.of(run.name)
    log.add(ProcessStarted())
    if run.view.introduction:
        log.say(run.label, run.view.introduction)


def publish_backlog(arm: Arm) -> None:
    """Publish all traffic if it begins before the start of the programs. Raises StackError."""
    if arm.scenario.traffic_begins == "before the start":
        arm.stopping.callback(arm.publishing_ends.set)
        _publish(arm)
        arm.publisher.result(arm.scenario.traffic.last_event.total_seconds() + _BROKER_DELAY_S)


def begin_traffic(arm: Arm) -> None:
    """Begin the traffic if it is due and has not begun yet."""
    if not arm.state.traffic_begun and (arm.scenario.traffic_begins == "at once" or arm.main.is_running):
        _publish(arm)


def _publish(arm: Arm) -> None:
    state = arm.state
    state.traffic_begun = True
    state.paused_before_traffic_s = arm.pause("traffic") or 0
    arm.log.add(TrafficBegun())
    arm.publisher.start()
    state.traffic_begun_s = arm.clock.now_s()
