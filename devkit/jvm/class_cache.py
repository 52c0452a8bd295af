"""A cache of loaded and linked classes for Spark's JVM, which otherwise loads some 15,000 of them at each start.

A restart of the pipeline then takes about two thirds of the time. The JVM writes such a cache at the end of a training
run, which follows the first verdict on a machine, and later runs use it. It belongs to one Java runtime, one classpath
and one set of flags, from which its name comes. A damaged cache can end the JVM, so its checksum
is compared before each use.

A training that failed would most likely fail again, a minute or more after each run. So its reason is kept under the
same name, and with another runtime, classpath or flag there is another try.
"""

import contextlib
import fcntl
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from devkit.jvm.cache import cached_file

_BLOCK = 1 << 20
# The JVM logs about a cache to standard output, which belongs to the program.
_QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


class ClassCache:
    """The cache for what `identity` names, for example classpath, runtime and flags."""

    def __init__(self, identity: Sequence[str]) -> None:
        self._path = cached_file("aot", identity, ".aot")

    @property
    def logs(self) -> Path:
        """The directory for what a training run logs."""
        return self._path.with_suffix(".logs")

    @property
    def failure(self) -> str | None:
        """Why the last training failed; None where none did."""
        try:
            return self._failure_file.read_text(encoding="utf-8") or "for a reason that is not known"
        except OSError:
            return None

    def keep_failure(self, reason: str) -> None:
        """Have later runs know. A cache that cannot be written costs only another try."""
        with contextlib.suppress(OSError):
            self._failure_file.parent.mkdir(parents=True, exist_ok=True)
            self._failure_file.write_text(reason, encoding="utf-8")

    def forget_failure(self) -> None:
        """The next run trains again. A file that cannot be removed stays, without an error."""
        with contextlib.suppress(OSError):
            self._failure_file.unlink(missing_ok=True)

    @property
    def _failure_file(self) -> Path:
        return self._path.with_suffix(".failed")

    @property
    def exists(self) -> bool:
        """Whether there is a sound cache; a damaged one counts as none."""
        try:
            return _checksum(self._path) == _checksum_file(self._path).read_text()
        except OSError:
            return False

    @property
    def is_wanted(self) -> bool:
        """Whether a training is worth its time: there is no cache, and no training for it has failed. Reads nothing:
        `use` has removed a damaged cache.
        """
        return not self._path.is_file() and self.failure is None

    def use(self) -> tuple[str, ...]:
        """JVM options that use the cache; none while there is no cache. A damaged one is removed."""
        if self.exists:
            return (f"-XX:AOTCache={self._path}", *_QUIET)
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        return ()

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
        """For the JVM of the training run, which writes the cache when it exits."""
        return (f"-XX:AOTCacheOutput={self._partial}", *_QUIET)

    @property
    def is_written(self) -> bool:
        """False until the training JVM has exited, and for good when it was killed."""
        return self._partial.is_file()

    def keep(self) -> None:
        """Put the finished cache in its place, its checksum first."""
        _checksum_file(self._path).write_text(_checksum(self._partial))
        self._partial.replace(self._path)

    def drop(self) -> None:
        """Removes what is unfinished; changes nothing after `keep`."""
        for leftover in self._path.parent.glob(f"{self._partial.name}*"):
            leftover.unlink(missing_ok=True)


def _checksum_file(path: Path) -> Path:
    return path.with_suffix(".crc32")


def _checksum(path: Path) -> str:
    """Against damage, not against an attacker: of 200 MB at each start of Spark, SHA-256 takes three times as long."""
    value = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    return f"{value:08x}"
