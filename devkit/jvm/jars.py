"""The jars of a set, in the user's cache and verified.

Each use hashes each file again: a cache is writable by anything the user runs, and a disk that filled up or a machine
that lost power leaves short files. What does not fit its pin is fetched again; what does needs no network.
"""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from devkit.errors import SetupError
from devkit.jvm.cache import cache_dir
from devkit.jvm.download import Download, DownloadProgress, fetch, make_partials, open_session, repository_url
from devkit.jvm.pins import LOCK, Pin, read_pins

KAFKA = "kafka"
SPARK = "spark"
JAR_SETS = (KAFKA, SPARK)
_THREADS = 8


def ensure(jar_set: str, *, lock: Path = LOCK) -> tuple[Path, ...]:
    """Paths of all jars of ``jar_set``, in the order of the lock; what is missing or damaged is downloaded first.

    `SetupError` names the jar that cannot be had and why.
    """
    pins = read_pins(jar_set, lock)
    absent = unverified(pins)
    if absent:
        _download(jar_set, absent)
    return tuple(jar_path(pin) for pin in pins)


def paths(jar_set: str, *, lock: Path = LOCK) -> tuple[Path, ...]:
    """The paths that `ensure` returns; nothing is verified or downloaded."""
    return tuple(jar_path(pin) for pin in read_pins(jar_set, lock))


def jar_path(pin: Pin) -> Path:
    """Where the cache keeps the jar."""
    return cache_dir() / "jars" / pin.path


def unverified(pins: Sequence[Pin]) -> list[Pin]:
    """The ``pins`` whose file is missing, short or different; `SetupError` for one that cannot be read."""
    with ThreadPoolExecutor(_THREADS) as threads:
        return [pin for pin, fits in zip(pins, threads.map(_fits, pins), strict=True) if not fits]


def _fits(pin: Pin) -> bool:
    path = jar_path(pin)
    try:
        if path.stat().st_size != pin.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == pin.sha256
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SetupError(f"cannot read {path}: {error.strerror}", hint="remove it, it will be fetched again") from error


def _download(jar_set: str, pins: Sequence[Pin]) -> None:
    repository = repository_url()
    partials = make_partials(cache_dir() / "jars" / "partial")
    downloads = [Download(f"{repository}/{pin.path}", pin, jar_path(pin), partials) for pin in pins]
    progress = DownloadProgress(f"downloading {len(pins)} {jar_set} jars", sum(pin.size for pin in pins))
    threads = ThreadPoolExecutor(_THREADS)
    try:
        with open_session(_THREADS) as session:
            running = [threads.submit(fetch, session, download, progress.add) for download in downloads]
            try:
                for future in running:
                    future.result()
            finally:
                # after the first failure, or Ctrl-C, nothing new is started
                threads.shutdown(wait=True, cancel_futures=True)
    finally:
        progress.close()
