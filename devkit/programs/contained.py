"""A program in a container of the engine's, which gives it no more memory than it may have.

    kit ── guardian ── docker run ──▶ engine ──▶ the program, in the network of this machine

The docker command stays attached and copies the program's output. The program's files and its directory for temporary
files have the same paths inside and outside, and it runs as the user who runs the kit. It has the run's label, by which
the guardian removes it, and the mark of the command's processes, by which they are found if the engine runs here.
"""

import contextlib
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from signal import Signals

import psutil

from devkit.docker.access import RUN_LABEL, DockerAccess, EngineImage
from devkit.docker.command import docker
from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.guardian.processes import RUN_VARIABLE, TREE_VARIABLE
from devkit.stack.container_life import ContainerLife, inspection
from devkit.waiting import wait_until

_BEGINNING = timedelta(seconds=60)
_ENDING = timedelta(seconds=30)


@dataclass(frozen=True)
class EngineContainer:
    """`memory` is in bytes, without swap on top. The program reads `directory`, and writes below `scratch`."""

    image: EngineImage
    memory: int
    directory: Path
    scratch: Path

    def spawn(
        self, guardian: Guardian, name: str, argv: Sequence[str], environment: Mapping[str, str], *, logs: Path
    ) -> "ContainedProcess":
        """Start it as the guardian does, with output and errors in two files. Raises StackError."""
        access = self.image.access
        container = f"devkit-{guardian.run_id}-{name}-{secrets.token_hex(3)}"
        self.scratch.mkdir(parents=True, exist_ok=True)
        users = guardian.directory / "passwd"
        # Java wants a name for who runs it.
        users.write_text(f"devkit:x:{os.getuid()}:{os.getgid()}::{self.scratch}:/bin/sh\n")
        client = guardian.spawn(
            name,
            [access.command, *self.words(guardian.run_id, container, argv, environment, users)],
            logs=logs,
            env={**access.environment, **environment},
            split=True,
            program=True,
        )
        life = ContainerLife(name, container, client, inspection(access, name))
        process = ContainedProcess(
            name, client.request, client.pid, client.stdout, client.stderr, guardian, access=access, life=life
        )
        process.find_first()
        return process

    def words(
        self, run_id: str, container: str, argv: Sequence[str], environment: Mapping[str, str], users: Path
    ) -> tuple[str, ...]:
        """The docker command's arguments; it takes the variables' values from its own environment."""
        directory, scratch = self.directory.absolute(), self.scratch.absolute()
        mounts = (
            (directory, directory, ",readonly"),
            (scratch, scratch, ""),
            (users, Path("/etc/passwd"), ",readonly"),
        )
        passed = (*sorted(environment), RUN_VARIABLE, TREE_VARIABLE)
        return (
            *("run", "--pull", "never", "--name", container, "--label", f"{RUN_LABEL}={run_id}"),
            *("--network", "host", "--user", f"{os.getuid()}:{os.getgid()}"),
            *("--memory", str(self.memory), "--memory-swap", str(self.memory)),
            *(word for source, target, options in mounts for word in ("--mount", _bind(source, target) + options)),
            *(word for variable in passed for word in ("--env", variable)),
            self.image.name,
            *argv,
        )


def _bind(source: Path, target: Path) -> str:
    """Fields of `--mount`, which are CSV."""
    fields = (f"{key}={path}".replace('"', '""') for key, path in (("source", source), ("target", target)))
    return ",".join(["type=bind", *(f'"{field}"' for field in fields)])


@dataclass
class ContainedProcess(ManagedProcess):
    """`pid` is that of the program's first process where it is seen here, else that of the docker command."""

    access: DockerAccess
    life: ContainerLife

    @property
    def exit_code(self) -> int | None:
        """The exit code of the program, not of the docker command; 255 where the engine no longer knows it."""
        return self.life.exit_code

    @property
    def went_over_memory(self) -> bool:
        """Whether a process of it was killed because all of them took too much; known once it has ended."""
        return self.life.went_over_memory

    def require_guardian(self) -> None:
        """Raises EngineError as well, a StackError, when the Docker engine ended."""
        self.life.require_guardian()

    def signal(self, number: Signals) -> None:
        """Sent through the engine to the container's first process. Raises StackError."""
        self._run("kill", "--signal", number.name)

    def kill_tree(self) -> None:
        """Also removes the container, once it is known how it ended."""
        with contextlib.suppress(StackError):  # it may have ended by itself; what is left is removed with the run
            self._run("kill")
            wait_until(lambda: self.exit_code is not None, what=f"{self.name}'s container to end", deadline=_ENDING)
        super().kill_tree()
        if self.exit_code is not None:
            with contextlib.suppress(StackError):
                self._run("rm", "--force")

    def tree(self) -> list[psutil.Process]:
        """Without the docker command, which has the same mark; empty where the engine runs elsewhere."""
        return [process for process in super().tree() if process.pid != self.life.follower.pid]

    def last_words(self, lines: int = 5) -> str:
        """The end of its log, and before it what the engine knows of its end: a memory limit, a removal."""
        return self.life.last_words(lines)

    def find_first(self) -> None:
        """Wait until the program has begun, or has ended. Raises WaitTimeoutError."""

        def first() -> int | None:
            if self.life.follower.exit_code is not None:
                return self.pid
            with contextlib.suppress(StackError):  # it is still to be made
                return int(self._run("inspect", "--format", "{{.State.Pid}}")) or None
            return None

        pid = wait_until(first, what=f"{self.name}'s container to begin", deadline=_BEGINNING)
        if any(process.pid == pid for process in self.tree()):
            self.pid = pid

    def _run(self, *order: str) -> str:
        words = ["container", *order, self.life.container]
        return docker(self.access, words, what=f"having {self.name}'s container {order[0]}")
