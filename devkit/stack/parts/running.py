"""Noticing that a part ended while somebody waits for it."""

from devkit.errors import StackError
from devkit.guardian import ManagedProcess


def require_running(process: ManagedProcess) -> None:
    """Raises StackError with the part's last words when it has ended."""
    if (code := process.exit_code) is not None:
        process.require_guardian()
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        raise StackError(
            f"{process.name} ended {how}: {process.last_words()}", hint=f"its whole log is {process.stderr}"
        )
