"""Resident memory of a process, from `/proc`; elsewhere than on Linux it is unknown, and no figure is reported."""

import os
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident_bytes(pid: int | None = None, *, proc: Path = Path("/proc")) -> int | None:
    """Of this process, or of `pid`; None when it cannot be known, as of a process that has ended."""
    try:
        fields = (proc / ("self" if pid is None else str(pid)) / "statm").read_text().split()
        return int(fields[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return None
