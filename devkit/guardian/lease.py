"""The lease of a fault: how long it may last without a sign of its holder.

The holder of a fault renews its lease while it lives. The guardian has a fault undone whose lease was not renewed, also
if the holder hangs rather than dies. The last renewal is the time of the fault's page in the journal of the run, see
`devkit.faults.journal`.
"""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from devkit.jvm.cache import state_dir

LEASE = timedelta(seconds=15)
RENEW_EVERY = timedelta(seconds=2)
_MAY_RENEW = RENEW_EVERY + timedelta(seconds=1)
PAGE = ".json"
RESPAWN = ".respawn"


def journal_directory(run_id: str) -> Path:
    """Where the pages of a run's faults lie; it is there only while there is one."""
    return state_dir() / "faults" / run_id


def respawn_requests(run_id: str) -> list[Path]:
    """Parts that another process killed and wants started again: a file for each, by the name of the part."""
    return sorted(journal_directory(run_id).glob(f"*{RESPAWN}"))


def renew(page: Path) -> None:
    """Raises FileNotFoundError when the fault was undone by another process."""
    os.utime(page)


def has_lapsed(page: Path, *, now: float | None = None) -> bool:
    """False when there is no such page (any more)."""
    try:
        renewed = page.stat().st_mtime
    except FileNotFoundError:
        return False
    return (time.time() if now is None else now) - renewed > LEASE.total_seconds()


def lapsed_pages(run_id: str) -> frozenset[Path]:
    """The pages of a run's faults whose lease was not renewed."""
    return frozenset(page for page in journal_directory(run_id).glob(f"*{PAGE}") if has_lapsed(page))


class LeaseWatch:
    """Which leases of a run are not renewed any more, by looks at any times.

    After a sleep of the machine or a step of its clock all leases look lapsed. So each must look so for long enough
    that a living holder would have renewed it.
    """

    def __init__(self, run_id: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._run_id, self._clock = run_id, clock
        self._since: dict[Path, float] = {}

    def look(self) -> bool:
        """Whether there is one."""
        now = self._clock()
        self._since = {page: self._since.get(page, now) for page in lapsed_pages(self._run_id)}
        return any(now - since >= _MAY_RENEW.total_seconds() for since in self._since.values())
