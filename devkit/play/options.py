"""How a scenario is run, and on which stack."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from devkit.debug.debugger import Role
from devkit.debug.pause_point import PausePoint
from devkit.guardian import Guardian
from devkit.observe.arm_role import ArmName
from devkit.observe.settings import ChangedValue
from devkit.programs.program import Program
from devkit.stack.registry import DEFAULT
from devkit.stack.stack import NO_WISHES, Stack, StackRequest

OnKeep = Callable[[Stack, Guardian, Path], None]
"""Gets the stack, its guardian and the directory of the parts' logs, and releases the guardian."""


@dataclass(frozen=True)
class RunOptions:
    """`repeat` is the command line that would run it again, `changes` what it set otherwise than the scenario's file.

    `instead` takes the place of the scenario's main program. Without `pause_limit` only a person ends a pause. Without
    `stretch` the calibration of the machine chooses it, and a run that was short of time is played again.
    """

    arms: tuple[ArmName, ...]
    out: Path
    keep: bool
    repeat: str
    stack: str = DEFAULT
    request: StackRequest = NO_WISHES
    instead: Program | None = None
    pause_at: tuple[PausePoint, ...] = ()
    pause_limit: timedelta | None = None
    debug: Role | None = None
    stretch: int | None = None
    changes: tuple[ChangedValue, ...] = ()
