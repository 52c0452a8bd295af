"""The exceptions of the pipeline.

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
