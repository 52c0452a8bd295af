"""The parts of a running stack, for a process that did not start them: known only from the run's state."""

import contextlib
import os
import signal
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import psutil
from typing_extensions import override

from devkit.docker.access import DockerAccess
from devkit.docker.command import docker
from devkit.errors import StackError
from devkit.faults.suspension import resume_container
from devkit.guardian.lease import RESPAWN, journal_directory
from devkit.guardian.run_state import PartPlace, RunState, known_runs
from devkit.stack.parts.liveness import answers
from devkit.stack.parts.part import NOT_COPIED, Lever, Part
from devkit.stack.parts.process import is_process_stopped
from devkit.waiting import wait_until

_STOPPING = timedelta(seconds=10)
_ANSWERING = timedelta(seconds=60)
_NO_LOG = Path(os.devnull)
_STARTING = timedelta(seconds=60)
_OWNED_BY_COMMAND = "the command that runs it alone can start it again; let the scenario's `timeline` do it"
_COPIED_BY_TIMELINE = "only the `timeline` of a scenario copies and restores its data"
_IN_MEMORY = "its pages and rules are in its memory, and a scenario would not find them again"
_IN_CONTAINER = "a container is killed and started again by the run that made it alone"


@dataclass(frozen=True)
class AttachedLife:
    """See `devkit.stack.parts.part_life.Life`; the exit code is not known, as the process is no child of this one."""

    name: str
    pid: int | None
    container: str | None
    stdout: Path = _NO_LOG
    stderr: Path = _NO_LOG

    @property
    def exit_code(self) -> int | None:
        """-9 (SIGKILL) for a process that has ended, however it did; None for what is no process of this machine."""
        return None if self.pid is None or psutil.pid_exists(self.pid) else -signal.SIGKILL

    def require_guardian(self) -> None:
        """The holder of a fault ends by itself when the guardian is gone."""

    def last_words(self, lines: int = 5) -> str:  # noqa: ARG002 - part of the interface
        """Names the command that shows the log: this process does not know where it is."""
        return "(see `devkit logs`)"


class AttachedPart(Part):
    """A process, a container, or a part of another owner, which has no levers."""

    def __init__(self, place: PartPlace, run: RunState) -> None:
        self._place, self._run = place, run

    @property
    @override
    def name(self) -> str:
        return self._place.name

    @property
    @override
    def address(self) -> str:
        return self._place.address

    @property
    @override
    def life(self) -> AttachedLife:
        return AttachedLife(self.name, self._place.pid, self._place.container)

    @override
    def refusal(self, lever: Lever) -> str | None:
        if self._place.container is None and self._place.pid is None:
            return "it is not ours to stop"
        if lever in ("pause", "resume"):
            return None
        if lever in NOT_COPIED:
            return _COPIED_BY_TIMELINE
        if self._place.container is not None:
            return _IN_CONTAINER
        if self.name == "mock-api":
            return _IN_MEMORY
        return None if self._run.released else _OWNED_BY_COMMAND

    @override
    def pull(self, lever: Lever) -> None:
        self.require(lever)
        match lever:
            case "pause":
                self._pause()
            case "resume":
                self._resume()
                self._await_answer()
            case "kill":
                self._end(signal.SIGKILL)
            case "restart":
                self._end(signal.SIGTERM)
                self._respawn()
                self._await_answer()

    def _end(self, number: signal.Signals) -> None:
        pid = self._place.pid
        assert pid is not None
        for sent in (number, signal.SIGCONT):  # a stopped process takes a SIGTERM only when it is resumed
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sent)
        wait_until(lambda: not psutil.pid_exists(pid), what=f"{self.name} to end", deadline=_STARTING)

    def _respawn(self) -> None:
        """By the guardian, whose child it has to be."""
        before, directory = self._place.pid, journal_directory(self._run.run_id)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{self.name}{RESPAWN}").touch()

        def started() -> PartPlace | None:
            places = [place for run in known_runs() if run.run_id == self._run.run_id for place in run.parts]
            return next((place for place in places if place.name == self.name and place.pid != before), None)

        self._place = wait_until(started, what=f"the guardian to start {self.name} again", deadline=_STARTING)

    def _await_answer(self) -> None:
        wait_until(lambda: answers(self.address), what=f"{self.name} to answer again", deadline=_ANSWERING)

    def _pause(self) -> None:
        container, pid = self._place.container, self._place.pid
        if container is not None:
            docker(self._engine, ["container", "pause", container], what=f"having {self.name}'s container paused")
            return
        assert pid is not None
        self._signal(pid, signal.SIGSTOP)
        wait_until(lambda: is_process_stopped(pid), what=f"{self.name} to stop", deadline=_STOPPING)

    def _resume(self) -> None:
        container, pid = self._place.container, self._place.pid
        if container is not None:
            resume_container(self._engine, container)
            return
        assert pid is not None
        self._signal(pid, signal.SIGCONT)

    def _signal(self, pid: int, number: signal.Signals) -> None:
        try:
            os.kill(pid, number)
        except ProcessLookupError as error:
            raise StackError(f"{self.name} (process {pid}) is gone", hint="`devkit status` says what is up") from error

    @property
    def _engine(self) -> DockerAccess:
        assert self._run.docker is not None, "a run with containers knows its engine"
        return self._run.docker


def attached_parts(run: RunState) -> dict[str, Part]:
    """The parts of a run by name."""
    return {place.name: AttachedPart(place, run) for place in run.parts}


def start_again(run_id: str, part: str) -> None:
    """Start a part that was killed, where its run still is. Raises StackError."""
    run = next((run for run in known_runs() if run.run_id == run_id and run.guardian_is_alive()), None)
    attached = attached_parts(run).get(part) if run is not None else None
    if attached is not None and attached.life.exit_code is not None:
        attached.pull("restart")
