"""The command line and environment that a process was started with, as the system shows them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class ProcessStart:
    """`environment` has only the variables that were asked for."""

    environment: Mapping[str, str]
    command_line: tuple[str, ...]


def read_process_start(pid: int, variables: Collection[str], prefix: tuple[str, ...] = ()) -> ProcessStart | None:
    """None where the process has ended or just begins, or is another user's. `prefix` is the command that begins it."""
    try:
        process = psutil.Process(pid)
        command_line, environment = tuple(process.cmdline()), process.environ()
    except psutil.Error:
        return None
    is_beginning = bool(prefix) and command_line[: len(prefix)] == prefix
    if is_beginning or not (command_line and environment):  # for a moment of its start the system shows neither
        return None
    return ProcessStart({name: environment[name] for name in variables if name in environment}, command_line)
