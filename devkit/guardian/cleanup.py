"""Ending runs from outside: a kept one through its guardian, and what is left of one whose guardian was killed.

Its processes are found by their mark, its containers by their label, its directory and state file by name.
"""

import contextlib
import os
import shutil
import signal
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from devkit.docker.access import DockerAccess, find_docker
from devkit.docker.leftovers import remove_containers
from devkit.docker.preflight import check_engine
from devkit.errors import SetupError, StackError
from devkit.guardian.processes import RUN_VARIABLE, kill_until_gone, marked
from devkit.guardian.run_state import RunState, known_runs, state_path, unreadable_states
from devkit.waiting import wait_until

_DEADLINE = timedelta(seconds=120)


def remove_remains(run_id: str, directory: Path | None = None, docker: DockerAccess | None = None) -> None:
    """End the processes of a run, and remove its containers, its directory (found by name if not given), its state.

    Raises StackError when containers cannot be removed; the state file then stays, so that it can be tried again.
    """
    kill_until_gone(partial(marked, RUN_VARIABLE, run_id), reap=lambda: None)
    directories = [directory] if directory else list(Path(tempfile.gettempdir()).glob(f"devkit-{run_id}-*"))
    for remains in directories:
        shutil.rmtree(remains, ignore_errors=True)
    if docker is not None:
        remove_containers(docker, run_id)
    with contextlib.suppress(OSError):  # the cache may be what could not be used
        state_path(run_id).unlink()


def end_run(run: RunState) -> None:
    """Have the guardian of a kept run end it, and wait until it has.

    Raises WaitTimeoutError, and StackError when containers of it are left.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(run.guardian_pid, signal.SIGTERM)
    wait_until(
        lambda: not run.guardian_is_alive(),
        what=f"the guardian of stack {run.run_id} (process {run.guardian_pid}) to end everything",
        deadline=_DEADLINE,
    )
    if run.docker is not None and state_path(run.run_id).exists():
        # The guardian could not remove them; this says why.
        remove_remains(run.run_id, run.directory, run.docker)


@dataclass(frozen=True)
class Healed:
    """The result of `heal`: ids of the runs of which nothing is left, and the reason why others are not removed."""

    ended: tuple[str, ...]
    left: dict[str, str]


def heal() -> Healed:
    """End what is left of runs whose guardian was killed or whose state file is damaged, containers included."""
    ended: list[str] = []
    remaining: dict[str, str] = {}
    runs = [(run.run_id, run.directory, run.docker) for run in known_runs() if not run.guardian_is_alive()]
    for run_id, directory, access in [*runs, *((path.stem, None, _some_docker()) for path in unreadable_states())]:
        try:
            remove_remains(run_id, directory, access)
        except StackError as error:
            remaining[run_id] = str(error)
        else:
            ended.append(run_id)
    return Healed(tuple(ended), remaining)


def _some_docker() -> DockerAccess | None:
    """For a run whose state cannot be read: the engine that answers now, where one does."""
    try:
        access = find_docker()
        check_engine(access)
    except (SetupError, StackError):
        return None
    return access
