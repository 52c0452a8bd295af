"""A cache of loaded and linked classes for Spark's JVM, which otherwise loads some 15,000 of them at each start.

A restart of the pipeline then takes about two thirds of the time. The JVM writes such a cache at the end of a training
run, so the first run on a machine makes one, and later ones use it. It belongs to one Java runtime, one classpath and
one set of flags, from which its name comes. A damaged cache can end the JVM, so it is hashed before each use.
"""

import contextlib
import fcntl
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from devkit.jvm.cache import cache_dir

# What the JVM has to say of a cache goes to standard output, which belongs to the program.
_QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


class ClassCache:
    """The cache for what `identity` names, for example classpath, runtime and flags."""

    def __init__(self, identity: Sequence[str]) -> None:
        digest = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:16]
        self._path = cache_dir() / "aot" / f"{digest}.aot"

    @property
    def exists(self) -> bool:
        """Whether there is a sound cache; a damaged one counts as none."""
        try:
            return _sha256(self._path) == _hash_file(self._path).read_text()
        except OSError:
            return False

    def use(self) -> tuple[str, ...]:
        """JVM options that use the cache; none while there is no cache."""
        return (f"-XX:AOTCache={self._path}", *_QUIET) if self.exists else ()

    @contextlib.contextmanager
    def train(self) -> Iterator["Training | None"]:
        """Options for a training run; None when another process is at it. What `keep` was not called for is dropped."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield None
                return
            training = Training(self._path)
            try:
                yield training
            finally:
                training.drop()


class Training:
    """A cache that is being made beside its final place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._partial = path.with_suffix(".partial")
        self.drop()

    def options(self) -> tuple[str, ...]:
        return (f"-XX:AOTCacheOutput={self._partial}", *_QUIET)

    @property
    def is_written(self) -> bool:
        return self._partial.is_file()

    def keep(self) -> None:
        """Put the finished cache in its place, its hash first."""
        _hash_file(self._path).write_text(_sha256(self._partial))
        self._partial.replace(self._path)

    def drop(self) -> None:
        for leftover in self._path.parent.glob(f"{self._partial.name}*"):
            leftover.unlink(missing_ok=True)


def _hash_file(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
