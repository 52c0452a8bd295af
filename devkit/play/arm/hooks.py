"""What goes along with an arm besides its programs: faults by time or condition, a probe of the machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from devkit.observe.arm_role import ArmName
from devkit.play.arm.arm_state import ArmState
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.log import ArmLog
from devkit.programs.program_run import ProgramRun


@dataclass(frozen=True)
class ArmInPlay:
    """The arm that a hook goes along with: what it may ask, and where it may say something."""

    name: ArmName
    clock: ArmClock
    programs: Sequence[ProgramRun]
    state: ArmState
    log: ArmLog


class ArmHook(Protocol):
    """Made anew for each arm. What it raises ends the run, as a broken part of the stack does."""

    def begin(self) -> None:
        """The arm's programs are about to be started; its clock counts."""

    def look(self) -> None:
        """What there is to be seen of the arm is in its state: every few hundred milliseconds, until its end."""

    def end(self) -> None:
        """The arm has come to its end, or is broken off; its programs still run. Undo what is to be undone."""


MakeHook = Callable[[ArmInPlay], ArmHook]
