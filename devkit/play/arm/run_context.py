"""An arm's surroundings while it is played: the run it belongs to, and the hooks that go along with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from devkit.debug.debugger import Debugger
from devkit.debug.pause_point import NO_PAUSES, Pauses
from devkit.guardian import Guardian
from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.timeline import Timeline
from devkit.play.arm.arm_state import ArmState
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.log import ArmLog
from devkit.programs.program_run import ProgramRun
from devkit.report.progress import Progress
from devkit.stack.stack import Stack


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


@dataclass(frozen=True)
class RunContext:
    """`ui` asks for the user interfaces of the programs; `hooks` go along with each arm."""

    guardian: Guardian
    stack: Stack
    timeline: Timeline
    progress: Progress
    directory: Path
    ui: bool = False
    pauses: Pauses = NO_PAUSES
    debugger: Debugger | None = None
    hooks: tuple[MakeHook, ...] = ()
