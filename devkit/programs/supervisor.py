"""Keeps a program running, as the operator did in production: when its process ends, it is started again.

The first start makes the checkpoint; every restart continues it. An operator may end it, and start it again where it is
over.
"""

import time
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from signal import SIGKILL, SIGTERM
from typing import Literal

from devkit.container.container_watch import ContainerWatch
from devkit.container.kill import KILLED, ContainerKill
from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.observe.logs.first_errors import Complaint
from devkit.observe.logs.log_end import has_lines, in_short, written
from devkit.observe.logs.log_files import LogFiles
from devkit.observe.logs.logs import LineTail, LoggedException, UnknownLine, exceptions_in
from devkit.observe.program_observation import ONLY
from devkit.observe.timeline.kit_events import (
    ProcessEnded,
    ProcessOverLimit,
    ProcessRestarted,
    ProgramEvent,
    StartRefused,
    SupervisorGaveUp,
)
from devkit.programs.launch import Addition, Launch
from devkit.programs.process_start import ProcessStart, read_process_start
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.programs.view import View
from pipeline.events import ApplyStarted, Failed, PipelineEvent, Started

Restart = Literal["always", "on-failure", "never"]

_ENDED_BY_OTHERS = frozenset({-SIGKILL, -SIGTERM})
"""Exit codes of a process that a signal ended at once, a fault's for example: its log cannot say why."""


class Supervisor:
    """One process of a program at a time; `poll` it often. `view` says what an end means, `restart` after which ends
    the program is started again: after each, only when the exit code is not 0, or after none; `policy` after which
    delay, and when it gives up; the jitter of its delays is drawn from `seed`. `container` looks at each process where
    the program has limits. Where the program `may_refuse`, a refused start is an outcome, and where it `may_never_run`,
    an end before it began anything.
    `process_start` is what the newest process was started with: its command line, and `variables` of its environment.
    """

    def __init__(
        self,
        guardian: Guardian,
        view: View,
        *,
        logs: Path,
        policy: SupervisorPolicy,
        restart: Restart = "always",
        seed: int = 0,
        name: str = ONLY,
        container: ContainerWatch | None = None,
        may_refuse: bool = False,
        may_never_run: bool = False,
        variables: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._guardian = guardian
        self._clock = clock
        self._launch: Launch | None = None
        self._by_hand, self._is_to_end = 0, False
        self._view = view
        self._logs = logs
        self._policy, self._restart, self._name, self._seed = policy, restart, name, seed
        self._container = container
        self._is_over, self._gave_up_after = False, ""
        self._may_refuse, self._may_never_run = may_refuse, may_never_run
        self._reason: str | None = None
        self.refusal: str | None = None
        self._has_moved_on = False
        self._row, self._restarted_at, self._spawned_at = 0, list[float](), 0.0
        self._processes: list[ManagedProcess] = []
        self._tails: tuple[LineTail, ...] = ()
        self._unread: list[PipelineEvent | UnknownLine] = []
        self._restart_at: float | None = None
        self._has_begun = False
        self.exit_codes: list[int] = []
        self._variables = variables
        self.process_start: ProcessStart | None = None

    @property
    def starts(self) -> int:
        """Number of processes so far, the first among them; 0 before `start`."""
        return len(self._processes)

    @property
    def restarts(self) -> int:
        """Number of processes that it started again; an end whose restart still waits for its delay adds none."""
        return len(self._processes) - self._by_hand

    @property
    def process(self) -> ManagedProcess | None:
        """The newest process, which may have ended."""
        return self._processes[-1] if self._processes else None

    @property
    def is_over(self) -> bool:
        """Whether its process has ended and will not be started again."""
        return self._is_over

    @property
    def gave_up(self) -> bool:
        """Whether it is over because its policy allows no further restart."""
        return bool(self._gave_up_after)

    @property
    def gave_up_after(self) -> str:
        """The restarts for which it gave up, `5 restarts within 10m`; empty where it did not."""
        return self._gave_up_after

    @property
    def last_refusal(self) -> str | None:
        """Why it is over where its newest process refused its start; `refusal` keeps that of an earlier one."""
        return self.refusal if self._is_over and not self._has_moved_on else None

    @property
    def ended_with(self) -> int | None:
        """The exit code of one that is over; None of one that is not."""
        return self.exit_codes[-1] if self._is_over and self.exit_codes else None

    def start(self, launch: Launch, addition: Addition | None = None) -> None:
        """First start, with the `addition` of the launch's own first one where none is given."""
        self._launch = launch
        self._by_hand += 1
        self._spawn(launch.first if addition is None else addition)

    def start_again(self, launch: Launch, addition: Addition) -> ProcessRestarted:
        """An operator does, after it was over; its restarts are of the same launch. Raises StackError."""
        self._launch = launch
        self._is_over, self._gave_up_after, self._is_to_end = False, "", False
        self._restart_at, self._row, self._reason, self._has_moved_on = None, 0, None, True
        self._restarted_at.clear()
        self._by_hand += 1
        self._spawn(addition)
        return ProcessRestarted(process=self.starts, pid=self._processes[-1].pid, by="operator")

    def end_gracefully(self) -> None:
        """An operator asks it to end, by SIGTERM; `poll` yields its end, which is no crash. Raises StackError."""
        self._is_to_end = True
        process = self.process
        if process is None or process.exit_code is not None:
            self._is_over = self._is_over or self._restart_at is not None
            return
        process.signal(SIGTERM)

    def poll(self) -> Iterator[ProgramEvent]:
        """The program's events since the last poll, and the events of its process.

        Raises StackError when the program refuses to run and may not, or has never begun: a restart cannot mend that.
        Where none is to come, its end is what there is to be observed.
        """
        if not self._processes or self._is_over:
            return
        process = self._processes[-1]
        code = process.exit_code
        for event in self._new_events():
            self._has_begun |= isinstance(event, Started | ApplyStarted)
            if isinstance(event, Failed) and event.refused:
                self._reason = event.error
            yield event
        if self._restart_at is None:
            if code is None:
                return
            killed = self._kill_of(self.starts)
            if self._is_to_end:
                self._is_over = True
                self.exit_codes.append(code)
                process.kill_tree()
                yield ProcessEnded(process=self.starts, exit_code=code)
                return
            if killed is not None:
                code = KILLED if killed.enforced_by == "sampling" else code
                self._has_begun = True
                yield ProcessOverLimit.of(killed)
            elif self._view.refused(code) and self._may_refuse:
                self._is_over = True
                self.exit_codes.append(code)
                process.kill_tree()
                self.refusal, self._has_moved_on = self._reason or in_short(process.last_words(6)), False
                yield ProcessEnded(process=self.starts, exit_code=code)
                yield StartRefused(reason=self.refusal)
                return
            elif self._view.refused(code):
                raise StackError(
                    f"the {self._name} refused to run: {in_short(process.last_words(6))}",
                    hint="change the configuration that it names; its whole log is "
                    + written(process.stdout, process.stderr),
                )
            self._is_over = self._restart == "never" or (self._restart == "on-failure" and code == 0)
            self._has_begun = self._has_begun or self._view.shows_life()
            if not (self._has_begun or self._is_over or self._may_never_run):
                # Nothing of the scenario has happened yet, so this says something of the machine, not of the incident.
                raise StackError(
                    f"the {self._name} ended with exit code {code} before {self._view.beginning}: "
                    f"{in_short(process.last_words(6))}",
                    hint=f"read its whole log, {written(process.stdout, process.stderr)}; "
                    "`devkit doctor` checks this machine",
                )
            # Workers that outlive their driver could still write.
            process.kill_tree()
            self.exit_codes.append(code)
            yield ProcessEnded(process=self.starts, exit_code=code)
            if self._is_over:
                return
            now = self._clock()
            if self._policy.is_new_row(timedelta(seconds=now - self._spawned_at)):
                self._row = 0
            ages = [timedelta(seconds=now - restarted_at) for restarted_at in self._restarted_at]
            restarts = self._policy.restarts_that_count(self._row, ages)
            if self._policy.gives_up(restarts):
                self._is_over, self._gave_up_after = True, self._policy.format_restarts(restarts)
                yield SupervisorGaveUp(restarts=restarts, after=self._gave_up_after, exit_code=code)
                return
            # By the number of the restart, so that the draws of a run do not depend on each other.
            random = Random(f"{self._seed} {self._name} {self.restarts}")
            self._restart_at = now + self._policy.delay_after(self._row, random).total_seconds()
        elif self._clock() >= self._restart_at:
            self._restart_at, self._row = None, self._row + 1
            self._restarted_at.append(self._clock())
            assert self._launch is not None
            self._spawn(self._launch.again)
            yield ProcessRestarted(process=self.starts, pid=self._processes[-1].pid)

    def stop(self) -> None:
        """Kill the process and all below it. The protocol handles crashes, so nothing is lost by that."""
        if self._container is not None:
            self._container.stop()
        self._unread += self._new_events()
        if self._processes:
            self._processes[-1].kill_tree()

    def rest(self) -> Iterator[ProgramEvent]:
        """Once it is stopped: the program's events since the last `poll`. The kill yields no event."""
        yield from self._unread
        self._unread = []
        # A driver whose JVM is killed before it may still say that it failed: the kill did that.
        yield from (event for event in self._new_events() if not isinstance(event, Failed))

    def exceptions(self) -> tuple[LoggedException, ...]:
        """Distinct ones of each process, in the order of the starts; every call reads all logs anew."""
        return tuple(
            exception
            for number, process in enumerate(self._processes, 1)
            for exception in exceptions_in(process.stderr, number)
        )

    def log_files(self) -> LogFiles:
        """Standard output and standard error of all its processes."""
        return LogFiles(tuple(file for process in self._processes for file in (process.stdout, process.stderr)))

    def last_complaint(self) -> Complaint | None:
        """For a program that reported no error itself: the first exception in its logs. Without one, the last lines of
        the first process that ended by itself with an exit code other than 0 and printed any, or None.
        """
        if exceptions := self.exceptions():
            first = exceptions[0]
            return Complaint(kind="exception", text=f"{first.class_name}: {first.message}", process=first.process)
        for number, (process, code) in enumerate(zip(self._processes, self.exit_codes, strict=False), 1):
            if code == 0 or code in _ENDED_BY_OTHERS:
                continue
            if has_lines(process.stderr) or has_lines(process.stdout):
                return Complaint(kind="last lines of its log", text=process.last_words(3), process=number)
        return None

    def _spawn(self, addition: Addition) -> None:
        assert self._launch is not None
        name = f"{self._name}-{self.starts + 1}"
        process = self._launch.spawn(self._guardian, name, logs=self._logs, addition=addition)
        self._processes.append(process)
        self.process_start = read_process_start(process.pid, self._variables, self._launch.prefix)
        if self.process_start is None:  # it has ended already, or just begins
            argv, environment = self._launch.with_addition(addition)
            self.process_start = ProcessStart(
                {name: environment[name] for name in self._variables if name in environment}, tuple(argv)
            )
        self._spawned_at = self._clock()
        self._tails = (LineTail(process.stdout),) if self._view.writes_events else ()
        if self._view.worker_events:
            self._tails += (LineTail(process.stderr, self._view.worker_events),)
        if self._container is not None:
            self._container.start(self.starts)

    def _new_events(self) -> Iterator[PipelineEvent | UnknownLine]:
        for tail in self._tails:
            yield from tail.new_events()

    def _kill_of(self, process: int) -> ContainerKill | None:
        if self._container is None:
            return None
        self._container.stop()  # a look that is under way ends first: it may be the one that killed
        return self._container.kill_of(process)
