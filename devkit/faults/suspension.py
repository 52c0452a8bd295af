"""Processes stopped by SIGSTOP and containers paused by their engine, and how each is resumed."""

import contextlib
import os
import signal
from collections.abc import Mapping

import psutil

from devkit.docker.access import DockerAccess
from devkit.docker.command import docker
from devkit.errors import StackError
from devkit.guardian.processes import birth


def process_data(process: psutil.Process) -> dict[str, str]:
    """What the journal keeps to resume this process, and it alone. Raises psutil.NoSuchProcess when it has ended."""
    return {"pid": str(process.pid), "created": birth(process.pid)}


def resume_process(data: Mapping[str, str]) -> None:
    """Send SIGCONT; nothing where it has ended, also when a later process has its id."""
    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        pid = int(data["pid"])
        if birth(pid) == data["created"]:
            os.kill(pid, signal.SIGCONT)


def container_state(access: DockerAccess, container: str) -> str:
    """`running`, `paused`, `exited` …, or `gone` when there is no such container. Raises StackError."""
    words = ["container", "ls", "--all", "--filter", f"id={container}", "--format", "{{.State}}"]
    return docker(access, words, what="looking at a container").strip() or "gone"


def resume_container(access: DockerAccess, container: str) -> None:
    """Unpause it; nothing where it runs already or is gone. Raises StackError when it is still paused then."""
    if container_state(access, container) != "paused":
        return
    try:
        docker(access, ["container", "unpause", container], what="resuming a container")
    except StackError:
        if container_state(access, container) == "paused":
            raise
