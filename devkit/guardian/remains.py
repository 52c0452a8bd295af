"""Removing what a run leaves when its guardian is killed: processes by their mark, directory and state file by name."""

import contextlib
import shutil
import tempfile
from functools import partial
from pathlib import Path

from devkit.guardian.processes import RUN_VARIABLE, kill_until_gone, marked
from devkit.guardian.state import state_path


def remove_remains(run_id: str, directory: Path | None = None) -> None:
    """End the processes of a run, and remove its directory (found by its name when it is not given) and state file."""
    kill_until_gone(partial(marked, RUN_VARIABLE, run_id), reap=lambda: None)
    found = [directory] if directory else list(Path(tempfile.gettempdir()).glob(f"devkit-{run_id}-*"))
    for remains in found:
        shutil.rmtree(remains, ignore_errors=True)
    with contextlib.suppress(OSError):  # the cache may be what could not be used
        state_path(run_id).unlink()
