"""Removing what a run leaves when its guardian is killed.

Processes are found by their mark, containers by their label, directory and state file by name.
"""

import contextlib
import shutil
import tempfile
from functools import partial
from pathlib import Path

from devkit.docker.access import DockerAccess
from devkit.docker.leftovers import remove_containers
from devkit.guardian.processes import RUN_VARIABLE, kill_until_gone, marked
from devkit.guardian.run_state import state_path


def remove_remains(run_id: str, directory: Path | None = None, docker: DockerAccess | None = None) -> None:
    """End the processes of a run, and remove its containers, its directory (found by name if not given), its state.

    Raises StackError when containers cannot be removed; the state file then stays, so that it can be tried again.
    """
    kill_until_gone(partial(marked, RUN_VARIABLE, run_id), reap=lambda: None)
    found = [directory] if directory else list(Path(tempfile.gettempdir()).glob(f"devkit-{run_id}-*"))
    for remains in found:
        shutil.rmtree(remains, ignore_errors=True)
    if docker is not None:
        remove_containers(docker, run_id)
    with contextlib.suppress(OSError):  # the cache may be what could not be used
        state_path(run_id).unlink()
