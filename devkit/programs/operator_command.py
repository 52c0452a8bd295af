"""A command that an operator runs beside a program: once, to its end, its output in files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devkit.guardian import Guardian, ManagedProcess
from devkit.observe.logs.log_end import last_lines
from devkit.programs.command.command_line import CommandLine

_SHOWN = 20
"""Lines of its output that are recorded."""


@dataclass(frozen=True)
class RunningCommand:
    """One that was started. `exit_code` is None while it runs."""

    process: ManagedProcess

    @property
    def exit_code(self) -> int | None:
        """Negative when a signal ended it."""
        return self.process.exit_code

    def output(self) -> str:
        """The end of what it wrote, on standard output and then on standard error; all of it is in the files."""
        lines = [line for path in (self.process.stdout, self.process.stderr) for line in last_lines(path, _SHOWN)]
        return "\n".join(lines)

    def kill(self) -> None:
        """It and all below it. Raises StackError when the guardian has ended."""
        self.process.kill_tree()


def run_command(
    guardian: Guardian,
    name: str,
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    logs: Path,
    prefix: tuple[str, ...] = (),
) -> RunningCommand:
    """Started in the directory in which the kit was, by the command `prefix`. Raises StackError when that fails."""
    line = CommandLine(tuple(words), Path.cwd())
    return RunningCommand(guardian.spawn(name, (*prefix, *line.started), logs=logs, env=environment, split=True))
