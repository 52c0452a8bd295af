"""Any command as a program under test: `run: command python my_pipeline.py`, or `--pipeline 'python my_pipeline.py'`.

Its configuration model is the pipeline's, so that a scenario needs no other; it gets it resolved, as a JSON file.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devkit.programs.command.command_environment import START, command_environment
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.view import CommandView
from devkit.programs.launch import Addition, Launch
from devkit.programs.places import Places
from devkit.programs.program import Program
from devkit.programs.program_base import ConfiguredProgramBase, ProgramBase
from devkit.programs.program_context import ProgramContext
from devkit.programs.program_state import ProgramState
from devkit.programs.spark.configuration import configuration, write_config


@dataclass(frozen=True)
class ConfiguredCommand(ConfiguredProgramBase):
    """A command with the configuration of an arm."""

    line: CommandLine

    def launch(self, context: ProgramContext) -> Launch:
        """A variable says whether there is a checkpoint to continue from."""
        config_file = write_config(self.config, context.directory)
        credentials = context.stack.object_store.credentials()
        return Launch(
            self.line.started,
            command_environment(self.config, config_file, context.arm, credentials, os.environ),
            first=Addition(environment={START: "new"}),
            again=Addition(environment={START: "checkpoint"}),
        )

    def view(self, state: ProgramState, context: ProgramContext) -> CommandView:
        """Reads the topics past every proxy; `requests` are those of all clients of the mock."""
        mock = context.stack.mock_api
        return CommandView(state, context.stack.kafka.direct, self.topics, requests=lambda: mock.counts().requests)


@dataclass(frozen=True)
class CommandProgram(ProgramBase):
    """A command line in place of the pipeline."""

    line: CommandLine
    unstretchable: str = "a command's own settings"

    @property
    def command(self) -> str:
        """Quoted anew for a shell, so not always letter for letter as it was given."""
        return shlex.join(self.line.argv)

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredCommand:
        """By the pipeline's model, as that is what the command gets. Raises pydantic's ValidationError."""
        return ConfiguredCommand(line=self.line, config=configuration(places, settings))


@dataclass(frozen=True)
class CommandKind:
    """`command`, and its command line. `given_by` is how error messages call the place where it was written, and
    `directory` the one of the scenario file that has it.
    """

    name: str = "command"
    example: str = "command python my_pipeline.py"
    given_by: str = "run: command"
    directory: Path | None = None

    def program(self, words: str) -> Program:
        """Raises UsageError when the command or the script that it names does not exist."""
        return CommandProgram(CommandLine.parse(words, self.given_by, self.directory))
