"""The life of a part that runs in a container.

A `docker logs --follow` of the run copies what the part writes into the run's directory. It ends when the container
ends, so as long as it runs the engine need not be asked; once it has ended the engine says how the part did.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from devkit.docker.access import DockerAccess
from devkit.docker.causes import EngineError
from devkit.docker.command import docker
from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess

_ASK_AGAIN = timedelta(seconds=1)
_UNKNOWN = 255

Inspect = Callable[[str], str]


@dataclass(frozen=True)
class _State:
    """The state of a container, as the engine reported it."""

    running: bool
    code: int = _UNKNOWN
    remark: str = ""
    killed_for_memory: bool = False
    engine_error: EngineError | None = None


class ContainerLife:
    """See `devkit.stack.parts.part_life.Life`."""

    pid = None

    def __init__(
        self,
        name: str,
        container: str,
        follower: ManagedProcess,
        inspect: Inspect,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._container, self._inspect, self._clock = name, container, inspect, clock
        self.follower = follower
        self._state = _State(running=True)
        self._asked_at: float | None = None

    @property
    def name(self) -> str:
        """The part's name, not the container's."""
        return self._name

    @property
    def container(self) -> str:
        """The id or name that the engine's commands take."""
        return self._container

    @property
    def stdout(self) -> Path:
        """The whole output of the container, its stderr included."""
        return self.follower.stdout

    @property
    def stderr(self) -> Path:
        """The same file as `stdout`."""
        return self.follower.stderr

    @property
    def exit_code(self) -> int | None:
        """The container's exit code; 255 when the engine is gone, or the container was removed."""
        if self.follower.exit_code is None:
            return None
        now = self._clock()
        if self._state.running and (self._asked_at is None or now - self._asked_at > _ASK_AGAIN.total_seconds()):
            self._asked_at = now
            self._state = self._ask()
        return None if self._state.running else self._state.code

    @property
    def went_over_memory(self) -> bool:
        """Whether a process in it was killed because all of them took too much; known once it has ended."""
        return self._state.killed_for_memory

    def require_guardian(self) -> None:
        """Raises EngineError as well, when the Docker engine has ended."""
        self.follower.require_guardian()
        if self._state.engine_error is not None:
            raise EngineError(
                f"the Docker engine ended, and {self.name} with it: {self._state.engine_error}",
                hint=self._state.engine_error.hint,
            )

    def last_words(self, lines: int = 5) -> str:
        """The end of its log, after the engine's remark on its end, such as a memory limit."""
        return self._state.remark + self.follower.last_words(lines)

    def _ask(self) -> _State:
        try:
            running, code, killed = self._inspect(self.container).split()
        except EngineError as error:
            return _State(running=False, engine_error=error)
        except StackError as error:
            return _State(running=False, remark=f"({error}) ")
        remark = "(it went over its memory limit) " if killed == "true" else ""
        return _State(running == "true", int(code), remark, killed == "true")


def follow(
    guardian: Guardian,
    access: DockerAccess,
    name: str,
    container: str,
    logs: Path,
    *,
    succeeds: ContainerLife | None = None,
    since: str = "0",
) -> ContainerLife:
    """Copy the container's output to `<logs>/<name>.log` from its beginning, and watch over it.

    One that was started again `succeeds` its former life: its output `since` then goes to the end of the same log.
    """
    follower = guardian.spawn(
        name,
        [access.command, "logs", "--follow", "--since", since, container],
        logs=logs,
        env=access.environment,
        succeeds=succeeds.follower.pid if succeeds else None,
    )
    return ContainerLife(name, container, follower, inspection(access, name))


def inspection(access: DockerAccess, name: str) -> Inspect:
    """Asks the engine how a container is, in the words that its life understands."""

    def inspect(container: str) -> str:
        fields = "{{.State.Running}} {{.State.ExitCode}} {{.State.OOMKilled}}"
        words = ["container", "inspect", "--format", fields, container]
        return docker(access, words, what=f"asking for {name}'s container")

    return inspect
