"""The phases of an arm in order. They do not depend on the kind of program under test."""

from collections.abc import Callable

from devkit.observe.arm_observation import ArmObservation
from devkit.play.arm.arm import Arm
from devkit.play.arm.collect import collect
from devkit.play.arm.observation import observation
from devkit.play.arm.prepare import prepare, try_first
from devkit.play.arm.start import start, stop
from devkit.play.arm.watch import watch

ArmPhase = Callable[[Arm], None]
PHASES: tuple[ArmPhase, ...] = (prepare, try_first, start, watch, stop, collect)


def play(arm: Arm) -> ArmObservation:
    """Play the arm. Raises StackError if a part of the stack fails; failures of programs are observed."""
    with arm:
        for phase in PHASES:
            phase(arm)
        return observation(arm)
