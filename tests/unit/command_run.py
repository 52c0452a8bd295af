"""A command of the project, run in this process."""

import contextlib
import io
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from unittest import mock

from devkit.cli.main import main as devkit
from mockapi.__main__ import main as mockapi
from pipeline.__main__ import main as pipeline
from tests.unit.signal_handlers import restored_handlers

PROGRAMS: Final[Mapping[str, Callable[[], object]]] = {
    "devkit": devkit,
    "pipeline": lambda: pipeline(prog_name="pipeline"),
    "mockapi": mockapi,
}


@dataclass(frozen=True)
class CommandRun:
    """What a command left: its exit code and what it printed."""

    code: object
    out: str
    err: str


def run_command(program: str, *arguments: str, **environment: str) -> CommandRun:
    """In the working directory; the process's environment, arguments and signal handlers are restored."""
    out, err = io.StringIO(), io.StringIO()
    with (
        restored_handlers(),
        mock.patch.object(sys, "argv", [program, *arguments]),
        mock.patch.dict(os.environ, environment),
        contextlib.redirect_stderr(err),
        contextlib.redirect_stdout(out),
    ):
        code = _exit_code(PROGRAMS[program])
    return CommandRun(code, out.getvalue(), err.getvalue())


def _exit_code(program: Callable[[], object]) -> object:
    try:
        return program()
    except SystemExit as ended:
        return ended.code
