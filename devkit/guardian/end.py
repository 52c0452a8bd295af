"""Ending runs from outside: a kept one through its guardian, an orphaned one by the marks it left."""

import contextlib
import os
import signal
from datetime import timedelta

from devkit.guardian.remains import remove_remains
from devkit.guardian.state import RunState, known_runs, unreadable_states
from devkit.waiting import wait_until

_DEADLINE = timedelta(seconds=30)


def end_run(run: RunState) -> None:
    """Have the guardian of a kept run end it, and wait until it has. Raises WaitTimeoutError."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(run.guardian_pid, signal.SIGTERM)
    wait_until(
        lambda: not run.guardian_is_alive(),
        what=f"the guardian of stack {run.run_id} (process {run.guardian_pid}) to end everything",
        deadline=_DEADLINE,
    )


def heal() -> list[str]:
    """End what is left of runs whose guardian was killed or whose state file is damaged; returns their ids."""
    orphaned = {run.run_id: run.directory for run in known_runs() if not run.guardian_is_alive()}
    for run_id, directory in orphaned.items():
        remove_remains(run_id, directory)
    damaged = [path.stem for path in unreadable_states()]
    for run_id in damaged:
        remove_remains(run_id)
    return [*orphaned, *damaged]
