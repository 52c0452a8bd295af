"""The log of an arm: lines of the run's timeline, and progress for a person."""

import contextlib
from collections.abc import Iterator

from devkit.observe.arm_end import ArmEnd
from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.kit_events import ArmEnded, PhaseBegun
from devkit.observe.timeline.timeline import Timeline, TimelineEvent
from devkit.report.progress import Moment, Progress, heartbeat


class ArmLog:
    """The log of one arm, or of one of its programs."""

    def __init__(self, arm: ArmName, timeline: Timeline, progress: Progress, program: str = "") -> None:
        self._arm, self._timeline, self._progress = arm, timeline, progress
        self._program = program or None

    def of(self, program: str) -> "ArmLog":
        """The log of a program, whose lines carry its name if it has one."""
        return ArmLog(self._arm, self._timeline, self._progress, program)

    def add(self, event: TimelineEvent) -> None:
        """Add a line to the timeline only."""
        self._timeline.add(event, arm=self._arm, program=self._program)

    def say(self, phase: str, text: str, *, moment: Moment | None = None) -> None:
        """Log a phase of the arm, or an event that a person wants to know."""
        self.add(PhaseBegun(phase=phase, text=text))
        self._progress.phase(self._arm, phase, text, moment=moment)

    @contextlib.contextmanager
    def during(self, phase: str, text: str) -> Iterator[None]:
        """Log a phase of the arm, and tell a person every 20 s how long it has taken, until the context is left."""
        self.say(phase, text)
        with heartbeat(lambda elapsed: self._progress.line(self._arm, elapsed), f"{phase}: {text}"):
            yield

    def ended(self, end: ArmEnd) -> None:
        """Log the arm's end; a person sees it as the phase `arm ends`."""
        self.add(ArmEnded(end=end))
        self._progress.phase(self._arm, "arm ends", end.text)
