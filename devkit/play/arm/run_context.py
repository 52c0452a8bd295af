"""The run that an arm belongs to, and the hooks that run beside it."""

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
    """What a hook may read of its arm, and the log that it may write to."""

    name: ArmName
    clock: ArmClock
    programs: Sequence[ProgramRun]
    state: ArmState
    log: ArmLog


class ArmHook(Protocol):
    """Created for each arm. An exception of it ends the run, as a broken part of the stack does."""

    def begin(self) -> None:
        """Called before the arm's programs are started; its clock runs."""

    def look(self) -> None:
        """Called every few hundred milliseconds until the arm's end, after its state was updated."""

    def end(self) -> None:
        """Called at the arm's end, also after an error, while its programs still run: undo all changes."""


MakeHook = Callable[[ArmInPlay], ArmHook]


@dataclass(frozen=True)
class RunContext:
    """The run of an arm. `ui` enables the user interfaces of the programs; `hooks` run beside each arm."""

    guardian: Guardian
    stack: Stack
    timeline: Timeline
    progress: Progress
    directory: Path
    ui: bool = False
    pauses: Pauses = NO_PAUSES
    debugger: Debugger | None = None
    hooks: tuple[MakeHook, ...] = ()
