"""Faults added by hand that were to begin later and were then refused: kept until removed, or until the run is over.

A fault that waits is refused when its command has ended, so the refusal is kept for the next one.
"""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.faults.fault import Fault


class RefusedFault(BaseModel):
    """The request, when it was refused, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    asked: str
    at: datetime
    why: str

    @property
    def text(self) -> str:
        """For a person."""
        return f"refused at {self.at.astimezone():%H:%M:%S}: {self.why}"


class RefusedFaults:
    """The refused faults of one run, in its `directory`, which is removed with the run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "refused-faults"

    def note(self, name: str, fault: Fault, why: str) -> None:
        """In place of one of the same name."""
        self.forget(name)
        refused = RefusedFault(name=name, asked=str(fault), at=datetime.now(UTC), why=why)
        self._directory.mkdir(exist_ok=True)
        path = self._directory / secrets.token_hex(4)
        path.write_text(refused.model_dump_json())
        path.replace(path.with_suffix(".json"))

    def listed(self) -> tuple[RefusedFault, ...]:
        """Oldest first."""
        return tuple(sorted((refused for _, refused in self._read()), key=lambda refused: refused.at))

    def forget(self, name: str) -> bool:
        """False when there is none of this name."""
        paths = [path for path, refused in self._read() if refused.name == name]
        for path in paths:
            path.unlink(missing_ok=True)
        return bool(paths)

    def _read(self) -> Iterator[tuple[Path, RefusedFault]]:
        for path in self._directory.glob("*.json"):
            with suppress(FileNotFoundError, ValidationError):  # removed meanwhile, or of another version
                yield path, RefusedFault.model_validate_json(path.read_bytes())
