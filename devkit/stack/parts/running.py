"""Noticing that a part ended while a client waits for it."""

from pathlib import Path
from typing import Protocol

from devkit.errors import StackError
from devkit.observe.log_end import in_short


class Life(Protocol):
    """What runs a part: a process of this run, a container, or an operator.

    `exit_code` is None while it lives, negative when a signal ended it. `stdout` and `stderr` are its logs, the same
    file where it has only one.
    """

    @property
    def name(self) -> str: ...
    @property
    def pid(self) -> int | None: ...
    @property
    def container(self) -> str | None: ...
    @property
    def stdout(self) -> Path: ...
    @property
    def stderr(self) -> Path: ...
    @property
    def exit_code(self) -> int | None: ...

    def require_guardian(self) -> None:
        """Raises StackError when what keeps it alive has ended: the run's guardian, the Docker engine."""

    def last_words(self, lines: int = 5) -> str:
        """The end of its log, for an error message."""


def require_running(life: Life) -> None:
    """Raises StackError with the part's last words when it has ended."""
    if (code := life.exit_code) is not None:
        life.require_guardian()
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        words = in_short(life.last_words())
        raise StackError(f"{life.name} ended {how}: {words}", hint=f"read its whole log, {life.stderr}")
