"""How much of the disk a program's scratch directory takes."""

import contextlib
import shutil
from pathlib import Path


def disk_usage(directory: Path) -> int:
    """Bytes that the files below `directory` occupy; what vanishes meanwhile is left out, links are not followed."""
    total, waiting = 0, [directory]
    while waiting:
        try:
            entries = list(waiting.pop().iterdir())
        except OSError:
            continue
        for entry in entries:
            try:
                status = entry.lstat()
            except OSError:
                continue
            # A sparse file occupies less than its length.
            total += status.st_blocks * 512
            if entry.is_dir() and not entry.is_symlink():
                waiting.append(entry)
    return total


def clear(directory: Path) -> None:
    """Remove what is in it, and keep the directory; what cannot be removed stays."""
    with contextlib.suppress(FileNotFoundError):
        for entry in list(directory.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    entry.unlink()
