"""A person's command line, taken apart, and the directory it is at home in."""

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from devkit.errors import UsageError


@dataclass(frozen=True)
class CommandLine:
    """`directory` is the one it was given in; the run's processes have one of their own."""

    argv: tuple[str, ...]
    directory: Path

    @property
    def started(self) -> tuple[str, ...]:
        """What is started, so that it runs at home."""
        return ("sh", "-c", 'cd -- "$0" && exec "$@"', str(self.directory), *self.argv)

    @classmethod
    def parse(cls, command: str, given_by: str) -> "CommandLine":
        """The command as a shell would take it apart. Raises UsageError when it names nothing that can be run."""
        try:
            argv = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"{given_by} {command!r}: {error}", hint="quote it as in a shell") from error
        if not argv:
            raise UsageError(f"{given_by} is empty", hint=f"{given_by} 'python my_pipeline.py'")
        if shutil.which(argv[0]) is None:
            raise UsageError(
                f"{given_by}: {argv[0]!r} is no program that can be run",
                hint=f"its path from here, or a name on PATH; for a shell's own words, {given_by} \"sh -c '…'\"",
            )
        return cls(argv, Path.cwd())
