"""What a kind of program has to give, so that an arm can run it and knows nothing else of it.

    ProgramKind         what stands first in `run:`; makes a program of the rest
    Program             one program: its configuration model, and what has to be done once before it runs
    ConfiguredProgram   the same with the configuration of an arm: how it starts, and what can be observed of it

A kind is registered in `devkit.programs.registry`.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import psutil
from pydantic import BaseModel

from devkit.guardian import Guardian
from devkit.observe.arm import FirstTry
from devkit.programs.context import ProgramContext, Say
from devkit.programs.launch import Launch
from devkit.programs.places import Places
from devkit.programs.state import ProgramState
from devkit.programs.topics import ProgramTopics
from devkit.programs.view import View
from devkit.stack.stack import Stack

Role = Literal["driver", "executor", "worker"]
ROLES: tuple[Role, ...] = get_args(Role)


class ConfiguredProgram(Protocol):
    """A program with the configuration of one arm."""

    @property
    def topics(self) -> ProgramTopics: ...

    @property
    def serves_metrics(self) -> bool: ...

    @property
    def commit_within(self) -> timedelta | None:
        """How long a commit may take before the program ends itself; None where it does not."""

    def effective(self) -> dict[str, Any]:
        """The whole configuration, defaults resolved, as JSON values."""

    def launch(self, context: ProgramContext) -> Launch:
        """How its processes are started; writes what they read into the context's directory."""

    def try_start(self, context: ProgramContext) -> FirstTry | None:
        """Start it once and see whether it refuses; None where it would not say so. Raises StackError."""

    def view(self, state: ProgramState, context: ProgramContext) -> View:
        """What can be observed of it; nothing has been started yet."""

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        """The part that a process of its tree plays; `first` is the id of the one that was started."""


class Program(Protocol):
    """One program, before it is configured."""

    @property
    def command(self) -> str:
        """The command line that a person gave; empty for a program of the project."""

    @property
    def model(self) -> type[BaseModel]:
        """What its configuration may say."""

    @property
    def given_by_stack(self) -> tuple[tuple[str, ...], ...]:
        """Keys that the stack fills in; a scenario that sets one would only run on one machine."""

    @property
    def unstretchable(self) -> str:
        """Which settings of it are values of no model, so that no stretch reaches them; empty where all are."""

    @property
    def takes_debugger(self) -> bool: ...

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredProgram:
        """Raises pydantic's ValidationError."""

    def make_ready(self, guardian: Guardian, stack: Stack, logs: Path, say: Say) -> None:
        """What is done once for a run. Raises StackError when a part of the stack has died."""


class ProgramKind(Protocol):
    """How programs of one kind are named in `run:`."""

    @property
    def name(self) -> str:
        """The first word."""

    @property
    def example(self) -> str:
        """A `run:` that names one."""

    def program(self, words: str) -> Program:
        """The program that the rest of `run:` names. Raises UsageError."""
