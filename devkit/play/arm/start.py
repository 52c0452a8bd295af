"""The arm's programs are started, and in the end stopped."""

from devkit.observe.timeline.kit_events import ProcessStarted
from devkit.play.arm.arm import Arm
from devkit.play.arm.begin_traffic import publish_backlog
from devkit.play.arm.sampling import take_sample
from devkit.programs.launch import Addition
from devkit.programs.program_run import ProgramRun


def start(arm: Arm) -> None:
    """Whatever happens from now on, the hooks and the programs are ended. Raises StackError."""
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
            _tell(arm, run)


def start_main(arm: Arm, addition: Addition) -> None:
    """For the first time, as a step of the arm. Raises StackError."""
    arm.main.start(addition)
    _tell(arm, arm.main)


def stop(arm: Arm) -> None:
    """End the hooks, then the programs, and hear their last words; the last sample is of what they left.

    Raises StackError.
    """
    arm.stopping.close()
    for run in arm.programs:
        for line in run.rest():
            arm.events[run.name].take(line)
    arm.pause("arm-end")
    for run in arm.programs:
        run.state.process = None
    take_sample(arm, last=True)


def _tell(arm: Arm, run: ProgramRun) -> None:
    log = arm.log.of(run.name)
    log.add(ProcessStarted())
    if run.view.introduction:
        log.say(run.label, run.view.introduction)
