"""The state file of a run: who guards it, where its directory is, and, once released, its addresses.

It is written by the guardian when the run begins and removed when it ends, so a file whose guardian is gone tells of
a run that was not cleaned up.
"""

import os
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.jvm.cache import cache_dir

LOGS = "logs"
"""The key in `addresses` under which a kept stack's log directory stands."""


class RunState(BaseModel):
    """One run as `devkit status`, `down` and `clean` see it."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    guardian_pid: int
    guardian_started: float
    directory: Path
    released: bool = False
    addresses: dict[str, str] = {}

    def guardian_is_alive(self) -> bool:
        """Whether the guardian runs; a recycled process id does not fool it."""
        try:
            guardian = psutil.Process(self.guardian_pid)
            return bool(
                abs(guardian.create_time() - self.guardian_started) < 1.0 and guardian.status() != psutil.STATUS_ZOMBIE
            )
        except psutil.Error:
            return False

    def save(self) -> None:
        """Write atomically."""
        path = state_path(self.run_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(self.model_dump_json(indent=2))
        partial.replace(path)


def state_path(run_id: str) -> Path:
    return cache_dir() / "runs" / f"{run_id}.json"


def known_runs() -> list[RunState]:
    """All runs with a state file, oldest first; unreadable files are left out (another version may have made them)."""
    runs = []
    for path in (cache_dir() / "runs").glob("*.json"):
        try:
            runs.append(RunState.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            continue
    return sorted(runs, key=lambda run: run.guardian_started)
