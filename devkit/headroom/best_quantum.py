"""The fastest that this machine ever did the quantum, kept in the user's cache by processor model."""

import contextlib
import hashlib
import platform
import sys
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devkit.headroom import quantum
from devkit.jvm.cache import write_cached

_SLOWEST_S = 10.0


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    machine: str
    quantum_s: float = Field(gt=0, lt=_SLOWEST_S)


class BestQuantum:
    """In a directory. Another processor, interpreter or quantum has a figure of its own."""

    def __init__(self, directory: Path, machine: str) -> None:
        self._machine = machine
        self._file = directory / "headroom" / f"{hashlib.sha256(machine.encode()).hexdigest()[:16]}.json"

    def read(self) -> float | None:
        """None where none is kept, or what is kept cannot be read."""
        try:
            kept = _Kept.model_validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return None
        return kept.quantum_s if kept.machine == self._machine else None

    def offer(self, quantum_s: float) -> None:
        """Keep it if it is the fastest. A cache that cannot be written costs only the comparison."""
        kept_s = self.read()
        if kept_s is not None and kept_s <= quantum_s:
            return
        with contextlib.suppress(OSError, ValidationError):
            write_cached(self._file, _Kept(machine=self._machine, quantum_s=quantum_s).model_dump_json())


def this_machine(cpu_info: Path = Path("/proc/cpuinfo")) -> str:
    """The key of a figure: the processor, the interpreter that does the quantum, and the quantum's size."""
    interpreter = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
    return f"{_processor(cpu_info)}, {interpreter}, {quantum.SIZE}"


def _processor(cpu_info: Path) -> str:
    with contextlib.suppress(OSError):
        lines = cpu_info.read_text(encoding="utf-8", errors="replace").splitlines()
        # Arm names no model, but the numbers of its maker and part.
        fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        processor = [fields[key] for key in ("model name", "CPU implementer", "CPU part") if key in fields]
        if processor:
            return " ".join(processor)
    return platform.processor() or platform.machine()
