"""How long a fault may last without news of who began it.

Who began a fault renews its lease while it lives; the guardian undoes a fault whose lease was not renewed, also when
its holder hangs rather than dies. The time of the last renewal is that of the journal's page.
"""

import os
import time
from datetime import timedelta
from pathlib import Path

LEASE = timedelta(seconds=15)
RENEW_EVERY = timedelta(seconds=2)


def renew(page: Path) -> None:
    """Raises FileNotFoundError when the fault was undone by somebody else."""
    os.utime(page)


def has_lapsed(page: Path, *, lease: timedelta = LEASE, now: float | None = None) -> bool:
    """False when there is no such page (any more)."""
    try:
        renewed = page.stat().st_mtime
    except FileNotFoundError:
        return False
    return (time.time() if now is None else now) - renewed > lease.total_seconds()
