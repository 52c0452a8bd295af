"""The machine: memory for the processes of a stack, disk for jars and a run's data, ports of loopback."""

import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil

from devkit.doctor.finding import GIB, MachineFinding, gib
from devkit.jvm.cache import cache_dir

_COMFORTABLE_MEMORY = 4 * GIB
_LEAST_MEMORY = 2 * GIB
_COMFORTABLE_DISK = 3 * GIB
_LEAST_DISK = 1 * GIB
_CGROUP = Path("/sys/fs/cgroup")
_LOOPBACK = "127.0.0.1"


def check_memory(available_bytes: int | None = None) -> MachineFinding:
    """``available_bytes`` defaults to what the machine or the container's limit leaves, whichever is less."""
    free = available_memory() if available_bytes is None else available_bytes
    if free < _LEAST_MEMORY:
        return MachineFinding(
            "memory", "fail", f"{gib(free)} free, {gib(_LEAST_MEMORY)} needed", "close programs, or raise the limit"
        )
    if free < _COMFORTABLE_MEMORY:
        return MachineFinding(
            "memory",
            "warn",
            f"{gib(free)} free, {gib(_COMFORTABLE_MEMORY)} wanted: scenarios with large pages may not fit",
            "close programs, or raise the container's limit",
        )
    return MachineFinding("memory", "ok", f"{gib(free)} free")


def available_memory(cgroup: Path = _CGROUP) -> int:
    """Bytes that new processes can use without swapping."""
    machine = int(psutil.virtual_memory().available)
    try:
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
    except (OSError, ValueError):  # no container, an older kernel's layout, or the limit "max"
        return machine
    return min(machine, max(limit - used, 0))


def check_disk(free_bytes: Callable[[Path], int] | None = None) -> MachineFinding:
    """``free_bytes`` returns what is free for a directory that exists."""
    measure = free_bytes or _free_bytes
    places = {"cache": cache_dir(), "temporary files": Path(tempfile.gettempdir())}
    free = {name: measure(nearest_existing(path)) for name, path in places.items()}
    detail = ", ".join(f"{gib(free[name])} free for {name} ({path})" for name, path in places.items())
    hint = "free some space, or let DEVKIT_CACHE and TMPDIR name directories on another disk"
    least = min(free.values())
    if least < _LEAST_DISK:
        return MachineFinding("disk", "fail", f"{detail}; {gib(_LEAST_DISK)} needed", hint)
    if least < _COMFORTABLE_DISK:
        return MachineFinding("disk", "warn", f"{detail}; {gib(_COMFORTABLE_DISK)} wanted", hint)
    return MachineFinding("disk", "ok", detail)


def nearest_existing(path: Path) -> Path:
    """``path``, or the nearest directory above it that is there."""
    return next(place for place in (path, *path.parents) if place.is_dir())


def _free_bytes(path: Path) -> int:
    return shutil.disk_usage(path).free


def check_ports(address: str = _LOOPBACK) -> MachineFinding:
    """Binds a free port of ``address`` and connects to it."""
    try:
        with socket.create_server((address, 0)) as server, socket.create_connection(server.getsockname(), timeout=5):
            return MachineFinding("ports", "ok", f"{address} can be bound and reached")
    except OSError as error:
        return MachineFinding(
            "ports",
            "fail",
            f"{address} cannot be bound and reached: {error}",
            "a sandbox or firewall forbids local servers; allow loopback",
        )
