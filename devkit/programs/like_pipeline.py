"""What programs have in common that are configured as the pipeline is, so that one scenario is good for all of them."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from pydantic import BaseModel

from devkit.guardian import Guardian
from devkit.observe.arm import FirstTry
from devkit.programs.context import ProgramContext, Say
from devkit.programs.program import Role
from devkit.programs.spark.configuration import GIVEN_BY_STACK, effective, topics_of
from devkit.programs.topics import ProgramTopics
from devkit.stack.stack import Stack
from pipeline.config import PipelineConfig


@dataclass(frozen=True)
class ConfiguredLikePipeline:
    """With the configuration of an arm; of its processes no more is known than which was started."""

    config: PipelineConfig

    @property
    def topics(self) -> ProgramTopics:
        return topics_of(self.config)

    @property
    def serves_metrics(self) -> bool:
        return self.config.metrics.port is not None

    @property
    def commit_within(self) -> timedelta | None:
        return self.config.stall_timeout

    def effective(self) -> dict[str, Any]:
        return effective(self.config)

    def try_start(self, context: ProgramContext) -> FirstTry | None:  # noqa: ARG002 - part of the interface
        """It would not say that it refuses, nor why."""
        return None

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        return "driver" if process.pid == first else None


class ProgramLikePipeline:
    """A program of the project that comes as it is; see `devkit.programs.program.Program`."""

    model: type[BaseModel] = PipelineConfig
    given_by_stack: tuple[tuple[str, ...], ...] = GIVEN_BY_STACK
    unstretchable: str = ""
    takes_debugger: bool = False

    @property
    def command(self) -> str:
        return ""

    def make_ready(self, guardian: Guardian, stack: Stack, logs: Path, say: Say) -> None:
        """Nothing has to be made for it."""
