"""Ending runs from outside: a kept one through its guardian, an orphaned one by the marks it left."""

import contextlib
import os
import signal
from dataclasses import dataclass
from datetime import timedelta

from devkit.docker.access import DockerAccess, find_docker
from devkit.docker.preflight import check_engine
from devkit.errors import SetupError, StackError
from devkit.guardian.cleanup import remove_remains
from devkit.guardian.run_state import RunState, known_runs, state_path, unreadable_states
from devkit.waiting import wait_until

_DEADLINE = timedelta(seconds=120)


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
    """What `heal` did: ids of the runs of which nothing is left, and what is left of others, with the reason."""

    ended: tuple[str, ...]
    left: dict[str, str]


def heal() -> Healed:
    """End what is left of runs whose guardian was killed or whose state file is damaged, containers included."""
    ended: list[str] = []
    left: dict[str, str] = {}
    runs = [(run.run_id, run.directory, run.docker) for run in known_runs() if not run.guardian_is_alive()]
    for run_id, directory, access in [*runs, *((path.stem, None, _some_docker()) for path in unreadable_states())]:
        try:
            remove_remains(run_id, directory, access)
        except StackError as error:
            left[run_id] = str(error)
        else:
            ended.append(run_id)
    return Healed(tuple(ended), left)


def _some_docker() -> DockerAccess | None:
    """For a run whose state cannot be read: the engine that answers now, where one does."""
    try:
        access = find_docker()
        check_engine(access)
    except (SetupError, StackError):
        return None
    return access
