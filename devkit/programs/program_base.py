"""The base of programs that are configured as the pipeline is, so that one scenario fits all of them."""

import functools
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psutil
from pydantic import BaseModel

from devkit.observe.applied_offsets import FollowerOffsets
from devkit.observe.arm_observation import FirstTry
from devkit.observe.expected_output.registry import TRUTHS
from devkit.observe.expected_output.truth import ArmTruth
from devkit.programs.program import ServedMetrics
from devkit.programs.program_context import ProgramContext, Reporter
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.role import Role
from devkit.programs.spark.configuration import GIVEN_BY_STACK, effective, topics_of
from pipeline.config.pipeline_config import PipelineConfig


@dataclass(frozen=True)
class ConfiguredProgramBase:
    """A program with the configuration of an arm; of its processes only the one that was started is known."""

    config: PipelineConfig

    @property
    def topics(self) -> ProgramTopics:
        """The topics of this arm's configuration; two arms may have different ones."""
        return topics_of(self.config)

    @property
    def serves_metrics(self) -> bool:
        """Whether `metrics.port` is set; 0, any free port, counts as set."""
        return self.config.metrics.port is not None

    @property
    def reads_source(self) -> bool:
        """True of every job, and assumed of a command."""
        return True

    @property
    def truth(self) -> ArmTruth | None:
        """The truth of its job."""
        make = TRUTHS.get(self.config.job)
        return make and functools.partial(make, self.config)

    @property
    def commit_within(self) -> timedelta | None:
        """The configuration's `stall_timeout`, for a command as well, which gets it in its configuration."""
        return self.config.stall_timeout

    @property
    def metrics(self) -> ServedMetrics | None:
        """None: a command serves what it likes."""
        return None

    def effective(self) -> dict[str, Any]:
        """Under the keys of a configuration file, defaults included."""
        return effective(self.config)

    def follows(self, context: ProgramContext) -> FollowerOffsets | None:  # noqa: ARG002 - part of the interface
        """None: its checkpoint shows it, or nothing does."""
        return None

    def try_start(self, context: ProgramContext) -> FirstTry | None:  # noqa: ARG002 - part of the interface
        """None: it would not say that it refuses, nor why."""
        return None

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        """`driver` for the process that was started, None for all below it."""
        return "driver" if process.pid == first else None


class ProgramBase:
    """A program of the project that comes as it is; see `devkit.programs.program.Program`."""

    model: type[BaseModel] = PipelineConfig
    given_by_stack: tuple[tuple[str, ...], ...] = GIVEN_BY_STACK
    unstretchable: str = ""
    takes_debugger: bool = False
    runs_on_spark: bool = False
    needs_triple_store: bool = False
    shows_running: bool = True

    @property
    def command(self) -> str:
        """Empty, as no person gave a command line; a `CommandProgram` has one."""
        return ""

    def fetch(self) -> None:
        """It brings along what it needs."""

    def after_verdict(self, say: Reporter) -> None:
        """Nothing would make it faster."""
