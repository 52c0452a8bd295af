"""The reference consumer as a program beside the pipeline: `run: consumer`, perhaps with the job it is the consumer of.

It follows the output topic of the arm's configuration until it is stopped; nothing but its process is to be seen.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devkit.observe.checkpoint import Offsets
from devkit.observe.deferrals import Deferrals
from devkit.observe.sample import Sample
from devkit.observe.sight import SIGHTS, Sight
from devkit.programs.context import ProgramContext
from devkit.programs.launch import Launch
from devkit.programs.like_pipeline import ConfiguredLikePipeline, ProgramLikePipeline
from devkit.programs.places import Places
from devkit.programs.program import Program
from devkit.programs.spark.configuration import configuration, write_config
from devkit.programs.spark.job import job_named
from devkit.programs.state import ProgramState
from devkit.traffic.publish import Publisher
from located_config.extension import environment_for

_REFUSED = 2


class ConsumerView:
    """Of a consumer."""

    says_when_it_runs = False
    writes_events = False
    introduction = "a consumer: no more is to be seen of it than whether it runs"
    beginning = "it read anything"
    shows_offsets = False

    def shows_life(self) -> bool:
        """Whatever ends it after its start is to be observed."""
        return True

    def refused(self, exit_code: int) -> bool:
        return exit_code == _REFUSED

    def committed(self) -> Offsets:
        return {}

    def unseen(self, deferrals: Deferrals) -> frozenset[Sight]:  # noqa: ARG002 - part of the interface
        return SIGHTS

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """It shows nothing."""


@dataclass(frozen=True)
class ConfiguredConsumer(ConfiguredLikePipeline):
    """A consumer with the configuration of an arm."""

    @property
    def serves_metrics(self) -> bool:
        return False

    @property
    def commit_within(self) -> None:
        return None

    def launch(self, context: ProgramContext) -> Launch:
        """It reads from the beginning at each start."""
        config_file = write_config(self.config, context.directory)
        container = context.engine_container()
        python = "python3" if container else sys.executable
        argv = (python, "-m", "pipeline", "consume", "--config", str(config_file), "--follow")
        environment = {**context.stack.object_store.credentials(), **environment_for("job")}
        return Launch(argv, environment, scratch=context.scratch, container=container)

    def view(self, state: ProgramState, context: ProgramContext) -> ConsumerView:  # noqa: ARG002 - part of the interface
        return ConsumerView()


@dataclass(frozen=True)
class ConsumerProgram(ProgramLikePipeline):
    """`job` is the one whose output is read; None leaves it to the configuration."""

    job: str | None = None

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredConsumer:
        return ConfiguredConsumer(config=configuration(places, settings, self.job))


@dataclass(frozen=True)
class ConsumerKind:
    """`consumer`, and perhaps the job."""

    name: str = "consumer"
    example: str = "consumer"

    def program(self, words: str) -> Program:
        return ConsumerProgram(job_named(words))
