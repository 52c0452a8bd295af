"""Pressure stall information: the kernel's own count of the time in which tasks waited for a core. Linux only."""

from pathlib import Path

_FILE = Path("/proc/pressure/cpu")


def waited_s(file: Path = _FILE) -> float | None:
    """Seconds since the machine started in which at least one task waited for a core; None where nothing counts it."""
    try:
        first = file.read_text(encoding="ascii").splitlines()[0]
        return int(first.rsplit("total=", 1)[1]) / 1_000_000
    except (OSError, IndexError, ValueError):
        return None
