"""The state file of a run: who guards it, where its directory is, and, once released, its addresses.

The guardian writes it when the run begins and removes it when the run ends, so a file without a living guardian means
that the run was not cleaned up.
"""

import os
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.docker.access import DockerAccess
from devkit.guardian.processes import birth
from devkit.jvm.cache import state_dir

LOGS = "logs"
"""The key in `addresses` under which a kept stack's log directory stands."""

CHECKOUT = Path(__file__).resolve().parents[2]
"""Where this kit is installed: a clone of the repository, or a directory of packages."""

DIRECT = " direct"
"""Behind a part's name in `addresses`: where the kit itself reaches it, past the proxy that leads programs."""


class PartPlace(BaseModel):
    """One part of a stack: a process of this machine, a container, or a part of an external stack."""

    model_config = ConfigDict(frozen=True)

    name: str
    address: str
    pid: int | None = None
    container: str | None = None


class ProgramPlace(BaseModel):
    """A process of a program under test; `exit_code` is None while it runs, negative when a signal ended it."""

    model_config = ConfigDict(frozen=True)

    name: str
    pid: int
    log: Path
    """Its standard error."""
    output: Path | None = None
    """Its standard output; not in a state of an earlier version of the kit."""
    exit_code: int | None = None


class RunState(BaseModel):
    """One run as `devkit status`, `ps`, `down` and `heal` see it."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    guardian_pid: int
    guardian_started: float
    guardian_birth: str | None = None
    """See `devkit.guardian.processes.birth`; not in a state of an earlier version of the kit, which may still run."""
    directory: Path
    released: bool = False
    addresses: dict[str, str] = {}
    parts: tuple[PartPlace, ...] = ()
    programs: tuple[ProgramPlace, ...] = ()
    """Programs that run, or that ended by themselves and were not started again."""
    checkout: Path | None = None
    """Where the kit is installed that started the run; None where an earlier version did."""
    docker: DockerAccess | None = None

    def guardian_is_alive(self) -> bool:
        """Whether the guardian runs; a recycled process id does not fool it."""
        try:
            guardian = psutil.Process(self.guardian_pid)
            return self._is_guardian(guardian) and bool(guardian.status() != psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return False

    def _is_guardian(self, process: psutil.Process) -> bool:
        if self.guardian_birth is None:
            return bool(abs(process.create_time() - self.guardian_started) < 1.0)
        return birth(process.pid) == self.guardian_birth

    def save(self) -> None:
        """Write atomically."""
        path = state_path(self.run_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(self.model_dump_json(indent=2))
        partial.replace(path)


def state_path(run_id: str) -> Path:
    """The state file of a run, which may not exist."""
    return state_dir() / "runs" / f"{run_id}.json"


def lease_path(run_id: str) -> Path:
    """Where a run notes that it is on an external stack; see `devkit.stack.external_lease`."""
    return state_dir() / "external-leases" / f"{run_id}.json"


def lease_paths() -> list[Path]:
    """The notes of all runs on external stacks, in the order of their ids."""
    return sorted(lease_path("").parent.glob("*.json"))


def known_runs() -> list[RunState]:
    """All runs with a state file, oldest first; `unreadable_states` has the files that are left out."""
    runs = [run for run in map(_read, _state_files()) if run is not None]
    return sorted(runs, key=lambda run: run.guardian_started)


def unreadable_states() -> list[Path]:
    """State files that hold no state; a file's name is the id of its run."""
    return [path for path in _state_files() if path.is_file() and _read(path) is None]


def _state_files() -> list[Path]:
    return sorted((state_dir() / "runs").glob("*.json"))


def _read(path: Path) -> RunState | None:
    try:
        return RunState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
