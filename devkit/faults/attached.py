"""The parts of a stack that is up, for a process that did not start them: known by the run's state alone."""

import os
import signal
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import psutil

from devkit.docker.access import DockerAccess
from devkit.docker.command import docker
from devkit.errors import StackError
from devkit.faults.parts.answering import answers
from devkit.guardian.state import PartPlace, RunState
from devkit.stack.parts.part import Lever, Part
from devkit.waiting import wait_until

_STOPPING = timedelta(seconds=10)
_ANSWERING = timedelta(seconds=60)
_NO_LOG = Path(os.devnull)
_NOT_ITS_OWN = "the run that started it alone can start it again; let a scenario's `timeline` do it"


@dataclass(frozen=True)
class AttachedLife:
    """See `devkit.stack.parts.running.Life`; whose child it is not, of that no exit code is known."""

    name: str
    pid: int | None
    container: str | None
    stdout: Path = _NO_LOG
    stderr: Path = _NO_LOG

    @property
    def exit_code(self) -> int | None:
        return None if self.pid is None or psutil.pid_exists(self.pid) else -signal.SIGKILL

    def require_guardian(self) -> None:
        """The holder of a fault ends by itself when the guardian is gone."""

    def last_words(self, lines: int = 5) -> str:  # noqa: ARG002 - part of the interface
        return "(see `devkit logs`)"


class AttachedPart(Part):
    """A process, a container, or a part of another owner, which has no levers."""

    def __init__(self, place: PartPlace, access: DockerAccess | None) -> None:
        self._place, self._access = place, access
        self._life = AttachedLife(place.name, place.pid, place.container)

    @property
    def name(self) -> str:
        return self._place.name

    @property
    def address(self) -> str:
        return self._place.address

    @property
    def life(self) -> AttachedLife:
        return self._life

    def refusal(self, lever: Lever) -> str | None:
        if self._place.container is None and self._place.pid is None:
            return "it is not ours to stop"
        return _NOT_ITS_OWN if lever in ("kill", "restart") else None

    def pull(self, lever: Lever) -> None:
        self.require(lever)
        if lever == "pause":
            self._do("pause", signal.SIGSTOP)
        else:
            self._do("unpause", signal.SIGCONT)
            wait_until(lambda: answers(self.address), what=f"{self.name} to answer again", deadline=_ANSWERING)

    def _do(self, order: str, number: signal.Signals) -> None:
        container, pid = self._place.container, self._place.pid
        if container is not None:
            assert self._access is not None, "a run with containers knows its engine"
            docker(self._access, ["container", order, container], what=f"having {self.name}'s container {order}d")
            return
        assert pid is not None
        try:
            os.kill(pid, number)
        except ProcessLookupError as error:
            raise StackError(f"{self.name} (process {pid}) is gone", hint="`devkit status` says what is up") from error
        if number is signal.SIGSTOP:
            wait_until(lambda: _is_stopped(pid), what=f"{self.name} to stop", deadline=_STOPPING)


def attached_parts(run: RunState) -> dict[str, Part]:
    """The parts of a run by name."""
    return {place.name: AttachedPart(place, run.docker) for place in run.parts}


def _is_stopped(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess as error:
        raise StackError(f"process {pid} was to stop, and is gone") from error
