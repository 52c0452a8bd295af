"""Where downloads live between runs, and where runs note their state: directories of a user, for all checkouts."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "DEVKIT_CACHE"
STATE_VARIABLE = "DEVKIT_STATE"


def cache_dir() -> Path:
    """``$DEVKIT_CACHE``, else the platform's cache directory for this kit; absolute, not necessarily there yet."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(platformdirs.user_cache_dir("enrichment-devkit", appauthor=False))


def state_dir() -> Path:
    """Where runs note what they have started, so that other commands find it: ``$DEVKIT_STATE``, else the cache."""
    chosen = os.environ.get(STATE_VARIABLE)
    return Path(chosen).expanduser().absolute() if chosen else cache_dir()


def cached_file(kind: str, identity: Sequence[str], suffix: str) -> Path:
    """Where something made here is kept that belongs to what `identity` names, for example versions and options."""
    digest = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:16]
    return cache_dir() / kind / f"{digest}{suffix}"


def write_cached(file: Path, text: str) -> None:
    """Replace a file of the cache at once, and make its directory if missing. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
