"""What a process was started with, as the system shows it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Given:
    """Of its `environment` only the variables that were asked for."""

    environment: Mapping[str, str]
    command_line: tuple[str, ...]


def given_to(pid: int, variables: Collection[str]) -> Given | None:
    """None where the process has ended or just begins, or is another user's."""
    try:
        process = psutil.Process(pid)
        words, found = tuple(process.cmdline()), process.environ()
    except psutil.Error:
        return None
    if not (words and found):  # for a moment of its start the system shows neither
        return None
    return Given({name: found[name] for name in variables if name in found}, words)
