"""What is recorded of an arm while it is played: lines of the run's timeline, and what a person is shown."""

from devkit.observe.arm_end import ArmEnd
from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.kit_events import ArmEnded, PhaseBegun
from devkit.observe.timeline.timeline import Timeline, TimelineEvent
from devkit.report.progress import Moment, Progress


class ArmLog:
    """Of one arm."""

    def __init__(self, arm: ArmName, timeline: Timeline, progress: Progress, program: str = "") -> None:
        self._arm, self._timeline, self._progress = arm, timeline, progress
        self._program = program or None

    def of(self, program: str) -> "ArmLog":
        """The same, whose lines carry the program's name where it has one."""
        return ArmLog(self._arm, self._timeline, self._progress, program)

    def add(self, event: TimelineEvent) -> None:
        """A line of the timeline, and nothing for a person."""
        self._timeline.add(event, arm=self._arm, program=self._program)

    def say(self, phase: str, text: str, *, moment: Moment | None = None) -> None:
        """The arm goes on to something else, or something happened in it that a person wants to know."""
        self.add(PhaseBegun(phase=phase, text=text))
        self._progress.phase(self._arm, phase, text, moment=moment)

    def ended(self, end: ArmEnd) -> None:
        """An event of its own on the timeline; a person reads it as the phase `arm ends`."""
        self.add(ArmEnded(end=end))
        self._progress.phase(self._arm, "arm ends", end.text)
