"""The exceptions of the pipeline, and what of somebody else's is worth saying.

PipelineError              the process ends, exit 1: a restart may help
└── RefusedError           the process does not begin, exit 2: a restart cannot help
"""

from typing import ClassVar


class PipelineError(Exception):
    """What failed, with its value; ``hint`` says what a person can do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class RefusedError(PipelineError):
    """Configuration, start position or checkpoint with which the job must not begin."""

    exit_code = 2


def root_cause(text: str) -> str:
    """The line of a Java stack trace that says what happened: its last cause with a message, else its first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    telling = [cause for cause in causes if ": " in cause] or causes
    return telling[-1] if telling else next(iter(lines), "no cause given")
