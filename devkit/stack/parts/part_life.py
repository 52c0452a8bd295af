"""The life of a part, and the error that names a part which ended while a client waits for it."""

from datetime import timedelta
from pathlib import Path
from typing import Protocol

from devkit.errors import StackError
from devkit.observe.logs.log_end import in_short

READY = timedelta(minutes=3)
"""How long a part that lives may take until it answers. Far more than it needs, also where forty processes wait for two
cores: one that fails to start ends, and that is noticed at once.
"""


class Life(Protocol):
    """The process, the container or the external server that runs a part."""

    @property
    def name(self) -> str:
        """The name of the part."""

    @property
    def pid(self) -> int | None:
        """None for a container and for what is not the kit's."""

    @property
    def container(self) -> str | None:
        """The id or name by which the engine knows it; None where it is no container."""

    @property
    def stdout(self) -> Path:
        """`/dev/null` where the kit has no log of it."""

    @property
    def stderr(self) -> Path:
        """The same file as `stdout` where a part has one log."""

    @property
    def exit_code(self) -> int | None:
        """None while it lives, and always where its end cannot be observed; negative when a signal ended it."""

    def require_guardian(self) -> None:
        """Raises StackError when what keeps it alive has ended: the run's guardian, the Docker engine."""

    def last_words(self, lines: int = 5) -> str:
        """The end of its log, for an error message."""


def require_running(life: Life) -> None:
    """Raises StackError with the part's last words when it has ended."""
    if (code := life.exit_code) is not None:
        life.require_guardian()
        words = in_short(life.last_words())
        raise StackError(f"{life.name} ended {exit_text(code)}: {words}", hint=f"read its whole log, {life.stderr}")


def exit_text(code: int) -> str:
    """How a process ended, by its exit code: negative where a signal ended it."""
    return f"with exit code {code}" if code >= 0 else f"by signal {-code}"
