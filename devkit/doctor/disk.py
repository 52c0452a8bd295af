"""Disk: jars in the cache, and Kafka's and Spark's data of a run in the temporary directory."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from devkit.doctor.finding import GIB, MachineFinding, gib
from devkit.jvm.cache import cache_dir

COMFORTABLE_BYTES = 3 * GIB
LEAST_BYTES = 1 * GIB


def check_disk(free_bytes: Callable[[Path], int] | None = None) -> MachineFinding:
    """``free_bytes`` returns what is free for a directory that exists."""
    measure = free_bytes or _free_bytes
    places = {"cache": cache_dir(), "temporary files": Path(tempfile.gettempdir())}
    free = {name: measure(existing(path)) for name, path in places.items()}
    detail = ", ".join(f"{gib(free[name])} free for {name} ({path})" for name, path in places.items())
    hint = "free some space, or let DEVKIT_CACHE and TMPDIR name directories on another disk"
    least = min(free.values())
    if least < LEAST_BYTES:
        return MachineFinding("disk", "fail", f"{detail}; {gib(LEAST_BYTES)} needed", hint)
    if least < COMFORTABLE_BYTES:
        return MachineFinding("disk", "warn", f"{detail}; {gib(COMFORTABLE_BYTES)} wanted", hint)
    return MachineFinding("disk", "ok", detail)


def existing(path: Path) -> Path:
    """``path``, or the nearest directory above it that is there."""
    return next(place for place in (path, *path.parents) if place.is_dir())


def _free_bytes(path: Path) -> int:
    return shutil.disk_usage(path).free
