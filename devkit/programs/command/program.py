"""Any command as a program under test: `run: command python my_pipeline.py`, or `--pipeline 'python my_pipeline.py'`.

Its configuration model is the pipeline's, so that a scenario needs no other; it gets it resolved, as a JSON file.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from pydantic import BaseModel

from devkit.guardian import Guardian
from devkit.observe.arm import FirstTry
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.environment import START, command_environment
from devkit.programs.command.view import CommandView
from devkit.programs.context import ProgramContext, Say
from devkit.programs.launch import Addition, Launch
from devkit.programs.places import Places
from devkit.programs.program import Program, Role
from devkit.programs.spark.configuration import GIVEN_BY_STACK, configuration, effective, topics_of, write_config
from devkit.programs.state import ProgramState
from devkit.programs.topics import ProgramTopics
from devkit.stack.stack import Stack
from pipeline.config import PipelineConfig


@dataclass(frozen=True)
class ConfiguredCommand:
    """A command with the configuration of an arm."""

    line: CommandLine
    config: PipelineConfig

    @property
    def topics(self) -> ProgramTopics:
        return topics_of(self.config)

    @property
    def serves_metrics(self) -> bool:
        return self.config.metrics.port is not None

    @property
    def commit_within(self) -> timedelta:
        return self.config.stall_timeout

    def effective(self) -> dict[str, Any]:
        return effective(self.config)

    def launch(self, context: ProgramContext) -> Launch:
        """It is told in its environment whether there is a checkpoint to go on from."""
        config_file = write_config(self.config, context.directory)
        credentials = context.stack.object_store.credentials()
        return Launch(
            self.line.started,
            command_environment(self.config, config_file, context.arm, credentials, os.environ),
            first=Addition(environment={START: "new"}),
            again=Addition(environment={START: "checkpoint"}),
        )

    def try_start(self, context: ProgramContext) -> FirstTry | None:  # noqa: ARG002 - part of the interface
        """A command does not say that it refuses, nor why."""
        return None

    def view(self, state: ProgramState, context: ProgramContext) -> CommandView:
        mock = context.stack.mock_api
        return CommandView(state, context.stack.kafka.direct, self.topics, requests=lambda: mock.counts().requests)

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        """Of a command no more is known than which process was started."""
        return "driver" if process.pid == first else None


@dataclass(frozen=True)
class CommandProgram:
    """A command line in place of the pipeline."""

    line: CommandLine
    model: type[BaseModel] = PipelineConfig
    given_by_stack: tuple[tuple[str, ...], ...] = GIVEN_BY_STACK
    unstretchable: str = "a command's own settings"
    takes_debugger: bool = False

    @property
    def command(self) -> str:
        return shlex.join(self.line.argv)

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredCommand:
        return ConfiguredCommand(self.line, configuration(places, settings))

    def make_ready(self, guardian: Guardian, stack: Stack, logs: Path, say: Say) -> None:
        """A command comes as it is."""


@dataclass(frozen=True)
class CommandKind:
    """`command`, and its command line. `given_by` is how error messages call the place where it was written."""

    name: str = "command"
    example: str = "command python my_pipeline.py"
    given_by: str = "run: command"

    def program(self, words: str) -> Program:
        return CommandProgram(CommandLine.parse(words, self.given_by))
