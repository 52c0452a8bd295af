"""Any command as a program under test: `run: command python my_pipeline.py`, or `--pipeline 'python my_pipeline.py'`.

Its configuration model is the pipeline's, so that a scenario needs no other; it gets it resolved, as a JSON file.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.environment import START, command_environment
from devkit.programs.command.view import CommandView
from devkit.programs.context import ProgramContext
from devkit.programs.launch import Addition, Launch
from devkit.programs.like_pipeline import ConfiguredLikePipeline, ProgramLikePipeline
from devkit.programs.places import Places
from devkit.programs.program import Program
from devkit.programs.spark.configuration import configuration, write_config
from devkit.programs.state import ProgramState


@dataclass(frozen=True)
class ConfiguredCommand(ConfiguredLikePipeline):
    """A command with the configuration of an arm."""

    line: CommandLine

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

    def view(self, state: ProgramState, context: ProgramContext) -> CommandView:
        mock = context.stack.mock_api
        return CommandView(state, context.stack.kafka.direct, self.topics, requests=lambda: mock.counts().requests)


@dataclass(frozen=True)
class CommandProgram(ProgramLikePipeline):
    """A command line in place of the pipeline."""

    line: CommandLine
    unstretchable: str = "a command's own settings"

    @property
    def command(self) -> str:
        return shlex.join(self.line.argv)

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredCommand:
        return ConfiguredCommand(line=self.line, config=configuration(places, settings))


@dataclass(frozen=True)
class CommandKind:
    """`command`, and its command line. `given_by` is how error messages call the place where it was written."""

    name: str = "command"
    example: str = "command python my_pipeline.py"
    given_by: str = "run: command"

    def program(self, words: str) -> Program:
        return CommandProgram(CommandLine.parse(words, self.given_by))
