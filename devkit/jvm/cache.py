"""Where downloads live between runs: one directory a user, shared by all checkouts."""

import os
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "DEVKIT_CACHE"


def cache_dir() -> Path:
    """``$DEVKIT_CACHE``, else the platform's cache directory for this kit; absolute, not necessarily there yet."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(platformdirs.user_cache_dir("enrichment-devkit", appauthor=False))
