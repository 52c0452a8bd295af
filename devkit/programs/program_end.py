"""Programs that are to run on, and the error of one that has ended: how, why, and in which log to read on."""

from collections.abc import Iterable

from devkit.errors import StackError
from devkit.guardian import ManagedProcess
from devkit.observe.logs.log_end import in_short, written
from devkit.observe.logs.logs import LineTail
from devkit.stack.parts.part_life import exit_text
from pipeline.events import Failed


def require_programs_running(processes: Iterable[ManagedProcess]) -> None:
    """Raises StackError for the first that has ended, with its exit code, its failure and its logs."""
    for process in processes:
        if (code := process.exit_code) is not None:
            process.require_guardian()
            cause = _logged_failure(process) or in_short(process.last_words())
            raise _error(process, f"ended {exit_text(code)}", cause)


def require_no_failure(processes: Iterable[ManagedProcess]) -> None:
    """As `require_programs_running`; also for one that has logged its failure and takes time to end."""
    processes = tuple(processes)
    require_programs_running(processes)
    for process in processes:
        if (failure := _logged_failure(process)) is not None:
            raise _error(process, "failed and is about to end", failure)


def _logged_failure(process: ManagedProcess) -> str | None:
    """The error with which the program says that it ends."""
    failures = [event.error for event in LineTail(process.stdout).new_events() if isinstance(event, Failed)]
    return failures[-1] if failures else None


def _error(process: ManagedProcess, how: str, cause: str) -> StackError:
    return StackError(f"{process.name} {how}: {cause}", hint=f"read its log, {written(process.stdout, process.stderr)}")
