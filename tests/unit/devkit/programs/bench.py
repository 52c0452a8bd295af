"""A supervisor with a guardian made of files: the test decides what its processes say, how they end, and the time."""

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from devkit.guardian import Guardian
from devkit.observe.timeline.kit_events import ProgramEvent
from devkit.programs.launch import Addition, Launch
from devkit.programs.program_state import ProgramState
from devkit.programs.spark.view import SparkView
from devkit.programs.supervisor import Supervisor
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.programs.view import View
from pipeline.events import Started
from tests.unit.devkit.faults.fakes import Clock
from tests.unit.devkit.programs.file_guardian import FileGuardian, Process

POLICY = SupervisorPolicy(delay=timedelta(seconds=5))
PIPELINE = Launch(("python", "-m", "pipeline"), {"SPARK": "x"}, first=Addition(("--new", "earliest")))


class Bench:
    """A supervisor, the processes that it starts, and its clock."""

    def __init__(
        self, directory: Path, view: object = None, policy: SupervisorPolicy = POLICY, **settings: Any
    ) -> None:
        self.guardian, self.clock = FileGuardian(directory), Clock(100.0)
        self.supervisor = Supervisor(
            cast(Guardian, self.guardian),
            cast(View, view) if view else SparkView(ProgramState()),
            logs=directory / "logs",
            policy=policy,
            clock=self.clock,
            **settings,
        )

    @property
    def started(self) -> list[Process]:
        return self.guardian.started

    def poll(self) -> list[ProgramEvent]:
        return list(self.supervisor.poll())

    def start(self) -> "Bench":
        self.supervisor.start(PIPELINE)
        return self

    def begin(self) -> None:
        """A first process whose query runs."""
        self.start().started[0].says({"event": "started"})
        assert self.poll() == [Started()]

    def end(self, exit_code: int = 1) -> list[ProgramEvent]:
        """The newest process ends."""
        self.started[-1].exit_code = exit_code
        return self.poll()

    def end_after(self, seconds: float) -> list[str]:
        """The events of the end of a process whose query ran for this time, by name."""
        self.started[-1].says({"event": "started"})
        self.wait(seconds)
        return [event.event for event in self.end()]

    def wait(self, seconds: float = 5) -> list[ProgramEvent]:
        """By default as long as the supervisor waits before a restart."""
        self.clock.now += seconds
        return self.poll()

    def delay(self) -> float:
        """Seconds until the next process is started; it is, then."""
        began, starts = self.clock.now, self.supervisor.starts
        while self.supervisor.starts == starts:
            self.wait(0.5)
        return self.clock.now - began

    def restart(self) -> None:
        self.end()
        self.wait()
