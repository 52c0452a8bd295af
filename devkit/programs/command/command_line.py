"""A person's command line, taken apart, and the directory it is at home in."""

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devkit.errors import UsageError

_INTERPRETER: Final = re.compile(r"python[\d.]*|sh|bash|dash|zsh")
_WITH_VALUE: Final = ("-W", "-X", "-o", "+o", "-O")
_NO_FILE: Final = ("c", "m")
"""Options behind which no file follows: `-c` has code, `-m` a module."""


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
        if (script := _script(argv)) is not None and not Path(script).exists():
            raise UsageError(
                f"{given_by}: there is no file {script!r} in {Path.cwd()}",
                hint="its path is relative to the directory in which you type the command",
            )
        return cls(argv, Path.cwd())


def _script(argv: tuple[str, ...]) -> str | None:
    """The file that a Python or a shell is to run; None for another program, and for code that stands in the line."""
    if not _INTERPRETER.fullmatch(Path(argv[0]).name):
        return None
    words = iter(argv[1:])
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif word == "-" or (word.startswith("-") and word[-1] in _NO_FILE):
            return None
        elif not word.startswith(("-", "+")):
            return word
    return None
