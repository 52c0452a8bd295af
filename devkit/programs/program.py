"""The protocols of a kind of program, by which an arm runs it and knows nothing else of it.

    ProgramKind         what stands first in `run:`; makes a program of the rest
    Program             one program: its configuration model, and what is done once on a machine
    ConfiguredProgram   the same with the configuration of an arm: how it starts, and what can be observed of it

A kind is registered in `devkit.programs.registry`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol

import psutil
from pydantic import BaseModel

from devkit.observe.applied_offsets import FollowerOffsets
from devkit.observe.arm_observation import FirstTry
from devkit.observe.expected_output.truth import ArmTruth
from devkit.programs.launch import Launch
from devkit.programs.places import Places
from devkit.programs.program_context import ProgramContext, Reporter
from devkit.programs.program_state import ProgramState
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.role import Role
from devkit.programs.view import View
from pipeline.config.pipeline_config import PipelineConfig

ServedMetrics = Mapping[str, frozenset[str]]
"""The labels of each series by its name."""


class ConfiguredProgram(Protocol):
    """A program with the configuration of one arm."""

    @property
    def topics(self) -> ProgramTopics:
        """Deleted and made again before each arm, the deferral topic only where it is used."""

    @property
    def serves_metrics(self) -> bool:
        """Whether it has a metrics endpoint; without one, expectations on metrics are refused."""

    @property
    def reads_source(self) -> bool:
        """Whether it takes events of the source topic, and not only what another program made of them."""

    @property
    def truth(self) -> ArmTruth | None:
        """The expected output; None where none is known, so that no audit can judge it."""

    @property
    def commit_within(self) -> timedelta | None:
        """How long a commit may take before the program ends itself; None where it does not."""

    @property
    def metrics(self) -> ServedMetrics | None:
        """What its endpoint serves; None where that is not known before it runs."""

    @property
    def config(self) -> PipelineConfig | None:
        """Its configuration where that is the pipeline's."""

    def effective(self) -> dict[str, Any]:
        """The whole configuration, defaults resolved, as JSON values."""

    def launch(self, context: ProgramContext) -> Launch:
        """How its processes are started; writes what they read into the context's directory."""

    def follows(self, context: ProgramContext) -> FollowerOffsets | None:
        """How far it has come, for one that reads what another program writes and shows it otherwise than by a
        checkpoint; None for others.
        """

    def try_start(self, context: ProgramContext) -> FirstTry | None:
        """Start it once and see whether it refuses; None where it would not say so. Raises StackError."""

    def view(self, state: ProgramState, context: ProgramContext) -> View:
        """The view by which it is observed; nothing has been started yet."""

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        """The part that a process of its tree plays; `first` is the id of the one that was started."""


class Program(Protocol):
    """One program, before it is configured."""

    @property
    def command(self) -> str:
        """The command line that a person gave; empty for a program of the project."""

    @property
    def runs_on_spark(self) -> bool:
        """Whether it is the pipeline: it takes settings of Spark, and what it logs and reports is known."""

    @property
    def shows_running(self) -> bool:
        """Whether it says, or shows by what it fetches and writes, that it runs."""

    @property
    def model(self) -> type[BaseModel]:
        """The model of its configuration."""

    @property
    def given_by_stack(self) -> tuple[tuple[str, ...], ...]:
        """Keys that the stack fills in; a scenario that sets one would only run on one machine."""

    @property
    def unstretchable(self) -> str:
        """Which settings of it are values of no model, so that no stretch reaches them; empty where all are."""

    @property
    def takes_debugger(self) -> bool:
        """Whether it can be run with `--debug`, which is a usage error otherwise."""

    @property
    def needs_triple_store(self) -> bool:
        """Whether the stack has to have a triple store for it; without such a program it has none."""

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredProgram:
        """Raises pydantic's ValidationError."""

    def fetch(self) -> None:
        """Download what it is started with, if that is missing; done while a stack starts. Raises SetupError."""

    def after_verdict(self, say: Reporter) -> None:
        """What makes later runs on this machine faster, and takes too long to be done before a verdict. Raises nothing
        but interrupts.
        """


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
