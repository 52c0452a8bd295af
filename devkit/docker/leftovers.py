"""Removing every container, network and volume that carries a run's label."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from devkit.docker.access import RUN_LABEL, DockerAccess
from devkit.docker.causes import EngineError
from devkit.docker.command import docker
from devkit.errors import StackError, WaitTimeoutError

_DEADLINE = timedelta(seconds=60)
# An engine goes on with an order whose client was killed, so what was being made appears a moment later.
_QUIET = timedelta(seconds=1)
_POLL = timedelta(milliseconds=250)

Command = Callable[[DockerAccess, list[str]], str]


@dataclass(frozen=True)
class _Kind:
    """How one kind of thing is listed, all of it, and removed."""

    name: str
    list: tuple[str, ...]
    remove: tuple[str, ...]


# In the order in which they can go: a container holds its network and its volumes.
_KINDS = (
    _Kind("containers", ("ps", "--all"), ("rm", "--force", "--volumes")),
    _Kind("networks", ("network", "ls"), ("network", "rm")),
    _Kind("volumes", ("volume", "ls"), ("volume", "rm", "--force")),
)


def _run(access: DockerAccess, arguments: list[str]) -> str:
    return docker(access, arguments, what="removing a run's containers", deadline=_DEADLINE)


def remaining(access: DockerAccess, run_id: str, *, command: Command = _run) -> dict[str, list[str]]:
    """Ids of the containers, networks and volumes of a run, by kind; kinds without any are left out."""
    ids_by_kind = {
        kind.name: command(access, [*kind.list, "--quiet", "--filter", f"label={RUN_LABEL}={run_id}"]).split()
        for kind in _KINDS
    }
    return {name: ids for name, ids in ids_by_kind.items() if ids}


def remove_containers(
    access: DockerAccess,
    run_id: str,
    *,
    command: Command = _run,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Remove what `remaining` returns until nothing new has appeared for a while.

    Raises EngineError when no engine answers, WaitTimeoutError that names what was left at the deadline.
    """
    end = clock() + _DEADLINE.total_seconds()
    quiet_since: float | None = None
    while True:
        left = remaining(access, run_id, command=command)
        now = clock()
        if not left:
            quiet_since = now if quiet_since is None else quiet_since
            if now - quiet_since >= _QUIET.total_seconds():
                return
        else:
            quiet_since = None
            if now > end:
                raise WaitTimeoutError(
                    f"Docker did not remove {left} of run {run_id} within {_DEADLINE.total_seconds():g} s",
                    hint="`devkit heal` tries again",
                )
            _remove(access, left, command)
        sleep(_POLL.total_seconds())


def _remove(access: DockerAccess, left: dict[str, list[str]], command: Command) -> None:
    for kind in _KINDS:
        if ids := left.get(kind.name):
            try:
                command(access, [*kind.remove, *ids])
            except EngineError:
                raise
            except StackError:
                # It is gone, is going, or a container still holds it: the next poll shows.
                continue
