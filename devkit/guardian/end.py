"""Ending runs from outside: a kept one through its guardian, an orphaned one by the marks it left."""

import contextlib
import os
import shutil
import signal
from datetime import timedelta
from functools import partial

from devkit.guardian.processes import RUN_VARIABLE, kill_until_gone, marked
from devkit.guardian.state import RunState, known_runs, state_path
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


def heal() -> list[RunState]:
    """End what is left of runs whose guardian was killed; returns those runs."""
    orphaned = [run for run in known_runs() if not run.guardian_is_alive()]
    for run in orphaned:
        kill_until_gone(partial(marked, RUN_VARIABLE, run.run_id), reap=lambda: None)
        shutil.rmtree(run.directory, ignore_errors=True)
        state_path(run.run_id).unlink(missing_ok=True)
    return orphaned
