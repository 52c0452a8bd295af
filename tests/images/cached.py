"""Results that take minutes to make, kept in the kit's cache under names that say what they were made of."""

import fcntl
from collections.abc import Callable
from pathlib import Path

from devkit.jvm.cache import cache_dir


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """The file `name`; `make` writes it at the path it is given. Two processes do not make it twice."""
    directory = cache_dir() / "tests"
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    with (directory / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            partial = directory / f"{name}.partial"
            make(partial)
            partial.replace(path)
    return path
