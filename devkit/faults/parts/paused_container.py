"""A container that may be paused, as the engine has it."""

from devkit.docker.access import DockerAccess
from devkit.docker.command import docker
from devkit.errors import StackError


def state_of(access: DockerAccess, container: str) -> str:
    """`running`, `paused`, `exited` …, or `gone` when there is no such container. Raises StackError."""
    words = ["container", "ls", "--all", "--filter", f"id={container}", "--format", "{{.State}}"]
    return docker(access, words, what="looking at a container").strip() or "gone"


def unpause(access: DockerAccess, container: str) -> None:
    """Have it go on; nothing where it does already or is gone. Raises StackError when it still stands then."""
    if state_of(access, container) != "paused":
        return
    try:
        docker(access, ["container", "unpause", container], what="resuming a container")
    except StackError:
        if state_of(access, container) == "paused":
            raise
