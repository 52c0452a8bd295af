"""Memory: a broker, a Spark driver with its Python workers, a store and the mock live at the same time."""

from pathlib import Path

import psutil

from devkit.doctor.finding import GIB, MachineFinding, gib

COMFORTABLE_BYTES = 4 * GIB
LEAST_BYTES = 2 * GIB
_CGROUP = Path("/sys/fs/cgroup")


def check_memory(available_bytes: int | None = None) -> MachineFinding:
    """``available_bytes`` defaults to what the machine or the container's limit leaves, whichever is less."""
    free = available() if available_bytes is None else available_bytes
    if free < LEAST_BYTES:
        return MachineFinding(
            "memory", "fail", f"{gib(free)} free, {gib(LEAST_BYTES)} needed", "close programs, or raise the limit"
        )
    if free < COMFORTABLE_BYTES:
        return MachineFinding(
            "memory",
            "warn",
            f"{gib(free)} free, {gib(COMFORTABLE_BYTES)} wanted: scenarios with large pages may not fit",
            "close programs, or raise the container's limit",
        )
    return MachineFinding("memory", "ok", f"{gib(free)} free")


def available(cgroup: Path = _CGROUP) -> int:
    """Bytes that new processes can use without swapping."""
    machine = int(psutil.virtual_memory().available)
    try:
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
    except (OSError, ValueError):  # no container, an older kernel's layout, or the limit "max"
        return machine
    return min(machine, max(limit - used, 0))
