"""A person's command line, taken apart, and the directory it is at home in."""

import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devkit.errors import UsageError

_INTERPRETER: Final = re.compile(r"python[\d.]*|sh|bash|dash|zsh")
_PYTHON: Final = ("python", "python3")
_WITH_VALUE: Final = ("-W", "-X", "-o", "+o", "-O")
_NO_FILE: Final = ("c", "m")
"""Options behind which no file follows: `-c` has code, `-m` a module."""


@dataclass(frozen=True)
class CommandLine:
    """`directory` is the one it was given in; the run's processes have one of their own."""

    argv: tuple[str, ...]
    directory: Path
    has_kits_python: bool = False

    @property
    def started(self) -> tuple[str, ...]:
        """The command that is started, which changes to the directory first."""
        name, *words = self.argv
        if self.has_kits_python and name in _PYTHON:
            name = sys.executable
        return ("sh", "-c", 'cd -- "$0" && exec "$@"', str(self.directory), name, *words)

    @classmethod
    def parse(cls, command: str, given_by: str, file_directory: Path | None = None) -> "CommandLine":
        """The command as a shell would take it apart. One of a scenario file is at home in the file's directory
        `file_directory`, and its `python` is the kit's. Raises UsageError when it names nothing that can be run.
        """
        directory = file_directory or Path.cwd()
        try:
            argv = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"{given_by} {command!r}: {error}", hint="quote it as in a shell") from error
        if not argv:
            raise UsageError(f"{given_by} is empty", hint=f"{given_by} 'python my_pipeline.py'")
        name = argv[0] if "/" not in argv[0] else str(directory / argv[0])
        if not (file_directory and name in _PYTHON) and shutil.which(name) is None:
            whence = "the scenario's file" if file_directory else "here"
            raise UsageError(
                f"{given_by}: {argv[0]!r} is no program that can be run",
                hint=f"its path from {whence}, or a name on PATH; for a shell's own words, {given_by} \"sh -c '…'\"",
            )
        if (script := _script(argv)) is not None and not (directory / script).exists():
            base = "the scenario's file" if file_directory else "the directory in which you type the command"
            raise UsageError(
                f"{given_by}: there is no file {script!r} in {directory}", hint=f"its path is relative to {base}"
            )
        return cls(argv, directory, has_kits_python=file_directory is not None)


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
