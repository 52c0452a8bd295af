"""The exceptions of the kit, and the exit code of each.

A person can mend what these describe, so the command line prints message and hint and no traceback.
Anything else that escapes is a defect of the kit and keeps its traceback (exit 3).

    DevkitError               exit 3: the harness could not do its work, nothing is known of the scenario
    ├── UsageError            exit 2: what was asked for cannot be
    │   └── InvalidFileError  exit 2: file:line:column, what is wrong, the near miss
    ├── SetupError            exit 3: Java runtime, jars, download
    └── StackError            exit 3: a part did not start, or ended while it was needed
        ├── PartError         exit 3: a part that runs did not answer, or refused
        └── WaitTimeoutError  exit 3: a named condition did not come true before its deadline
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from located_config.redaction import redacted_text

REPRODUCED_AND_FIXED = 0
REFUTED = 1
USAGE = 2
INCONCLUSIVE = 3
INTERRUPTED = 130

EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        REPRODUCED_AND_FIXED: "The incident is reproduced and the fix holds; another command succeeded.",
        REFUTED: "The incident is not reproduced, or the fix does not hold.",
        USAGE: "Wrong usage, or an invalid file.",
        INCONCLUSIVE: "Inconclusive: a fault never acted, an expectation could not be observed, the machine was "
        "too busy to judge this, or the kit itself failed. Nothing is known of the scenario.",
        INTERRUPTED: "Interrupted by Ctrl-C or SIGTERM; nothing is left running.",
    }
)
"""What the exit codes of `devkit` mean; `--bisect` changes some of them."""

_DOCTOR = "`devkit doctor` checks this machine"
_LOG = "read the log of that part: in `stack/` of a run, by `devkit logs` of a stack that is up"


class DevkitError(Exception):
    """What failed, with its value; ``hint`` says what a person can do about it.

    The first line of the message says it all; more of it, such as the end of a log, is on further lines.
    """

    exit_code: ClassVar[int] = INCONCLUSIVE
    fallback: ClassVar[str | None] = None
    """The hint of an error that has none of its own."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def with_hint(self) -> str:
        """Message and hint: what is missing and what to do next are both on the first line, as a log is often searched
        or cut by lines.
        """
        first, *more = str(self).splitlines() or [""]
        hint = self.hint or self.fallback
        return redacted_text("\n".join([f"{first}; hint: {hint}" if hint else first, *more]))

    def render(self) -> str:
        """As the command line prints it."""
        return f"error: {self.with_hint}"


class UsageError(DevkitError):
    """An argument, option or name that cannot be used."""

    exit_code = USAGE

    @property
    def with_hint(self) -> str:
        """The hint is on a line of its own: there may be several places, each with a line."""
        return redacted_text(f"{self}\nhint: {self.hint}" if self.hint else str(self))


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place of a file; line and column count from 1. `option` is what set the value there, empty
    where it is the file's own.
    """

    line: int
    column: int
    text: str
    option: str = ""


class InvalidFileError(UsageError):
    """A file whose content does not fit its model."""

    def __init__(self, path: Path, problems: Sequence[Problem], *, hint: str | None = None) -> None:
        places = [problem.option or f"{path}:{problem.line}:{problem.column}" for problem in problems]
        super().__init__(
            "\n".join(f"{place}: {problem.text}" for place, problem in zip(places, problems, strict=True)), hint=hint
        )
        self.path, self.problems = path, tuple(problems)


class SetupError(DevkitError):
    """The Java runtime, the jars or a download."""

    fallback = _DOCTOR


class StackError(DevkitError):
    """A part of the stack did not start, or ended while it was needed."""

    fallback = _DOCTOR


class PartError(StackError):
    """A part of the stack did not answer, or refused what the kit asked of it. That is no news of this machine: what is
    known of it is in the part's own log, and a fault may hold it.
    """

    fallback = _LOG

    def __init__(self, message: str, part: str, *, hint: str | None = None) -> None:
        """`part` is what the part is called: `kafka`, also of several brokers, `object-store`, `mock-api`."""
        super().__init__(message, hint=hint)
        self.part = part


class WaitTimeoutError(StackError):
    """A named condition did not come true before its deadline."""
