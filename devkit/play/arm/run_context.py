"""What an arm needs of the run it belongs to."""

from dataclasses import dataclass
from pathlib import Path

from devkit.debug.debugger import Debugger
from devkit.debug.pause_point import NO_PAUSES, Pauses
from devkit.guardian import Guardian
from devkit.observe.timeline.timeline import Timeline
from devkit.play.arm.hooks import MakeHook
from devkit.report.progress import Progress
from devkit.stack.stack import Stack


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
