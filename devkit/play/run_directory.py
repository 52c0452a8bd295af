"""The directories of runs, `runs/<name>/<time>/`, with `runs/latest` for the newest, and of series,
`runs/<name>/series-<time>/`.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path

from devkit.errors import DevkitError
from devkit.report.series_directory import is_series, runs_of

MIB = 1024 * 1024
FIRST_PLAY = "first-play"
"""Where the evidence of the first play goes, in the run's directory."""
_NEEDED_BYTES = 1024 * MIB


def make_run_directory(out: Path, name: str) -> Path:
    """A new directory of this run. Raises DevkitError when it cannot be made."""
    return _make(out, name, lambda directory: _point_latest(out, directory))


def make_series_directory(out: Path, name: str) -> Path:
    """A new directory of several runs, beside those of the runs themselves. Raises DevkitError when it cannot be made.

    `latest` goes on pointing at the newest run.
    """
    return _make(out, name, lambda _directory: None, prefix="series-")


def _make(out: Path, name: str, then: Callable[[Path], None], prefix: str = "") -> Path:
    stamp = prefix + datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    base = out / name
    try:
        base.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, 1000):
            directory = base / (stamp if attempt == 1 else f"{stamp}-{attempt}")
            with contextlib.suppress(FileExistsError):
                directory.mkdir()
                break
        then(directory)
    except OSError as error:
        raise DevkitError(
            f"{base} cannot be written: {error.strerror}",
            hint="choose another place with --out" + (", or free some space" if error.errno == errno.ENOSPC else ""),
        ) from error
    return directory


def require_space(*places: Path) -> None:
    """Raises DevkitError when a place has too little room for a run: better at the start than in the middle."""
    for place in places:
        free_bytes = shutil.disk_usage(place).free
        if free_bytes < _NEEDED_BYTES:
            raise DevkitError(
                f"{place} has {free_bytes // MIB} MiB free, a run needs {_NEEDED_BYTES // MIB} MiB",
                hint="free some space, or choose other places with TMPDIR and --out",
            )


def set_aside(directory: Path) -> Path:
    """Move the files of the first play into a subdirectory of the run. All its processes have ended."""
    aside = directory / FIRST_PLAY
    entries = list(directory.iterdir())
    aside.mkdir()
    for entry in entries:
        entry.rename(aside / entry.name)
    return aside


def prune_runs(out: Path, keep: int, *, in_use: Collection[Path] = ()) -> list[Path]:
    """Remove all but the newest `keep` runs of each scenario, and each series of which no run is left; returns what was
    removed.

    A run's directory that is, or has in it, one of the absolute paths `in_use` stays.
    """
    removed: list[Path] = []
    for scenario in sorted(path for path in out.glob("*") if path.is_dir() and not path.is_symlink()):
        places = [path for path in scenario.iterdir() if path.is_dir()]
        runs = sorted((path for path in places if not is_series(path)), key=lambda path: path.stat().st_mtime)
        for old in runs[: max(0, len(runs) - keep)]:
            if any(path.is_relative_to(old.absolute()) for path in in_use):
                continue
            shutil.rmtree(old)
            removed.append(old)
        for series in sorted(filter(is_series, places)):
            if not any(run.is_dir() for run in runs_of(series)):
                shutil.rmtree(series)
                removed.append(series)
    latest = out / "latest"
    if latest.is_symlink() and not latest.exists():
        latest.unlink()
    return removed


def _point_latest(out: Path, directory: Path) -> None:
    # Two runs may do this at once, so the link is made aside and moved over.
    link = out / f".latest-{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(directory.relative_to(out), target_is_directory=True)
    link.replace(out / "latest")
