"""The reference consumer as a program beside the pipeline: `run: consumer`, perhaps with the job it is the consumer of.

It follows the output and the error topic of the arm's configuration until it is stopped; nothing but its process is to
be seen.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.observable import OBSERVABLES, Observable
from devkit.observe.samples.sample import Sample
from devkit.programs.launch import Launch
from devkit.programs.places import Places
from devkit.programs.program import Program
from devkit.programs.program_base import ConfiguredProgramBase, ProgramBase
from devkit.programs.program_context import ProgramContext
from devkit.programs.program_state import ProgramState
from devkit.programs.spark.configuration import configuration, find_job, write_config
from devkit.traffic.publish import Publisher
from located_config.extension import environment_for

_REFUSED = 2


class ConsumerView:
    """The view of a consumer."""

    says_when_it_runs = False
    writes_events = False
    worker_events = ()
    introduction = "a consumer: no more is to be seen of it than whether it runs"
    beginning = "it read anything"
    shows_offsets = False
    has_checkpoint = False

    def shows_life(self) -> bool:
        """Always True: any end after its start is an observation."""
        return True

    def refused(self, exit_code: int) -> bool:
        """True for exit code 2: its configuration or its command line is wrong."""
        return exit_code == _REFUSED

    def committed(self) -> Offsets:
        """Always empty: it keeps no offsets."""
        return {}

    def not_observable(self, deferrals: Deferrals) -> frozenset[Observable]:  # noqa: ARG002 - part of the interface
        """All that a program may not show, so every expectation that needs any of it is undecided."""
        return OBSERVABLES

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """Does nothing, as a consumer shows nothing."""


@dataclass(frozen=True)
class ConfiguredConsumer(ConfiguredProgramBase):
    """A consumer with the configuration of an arm."""

    @property
    def serves_metrics(self) -> bool:
        """False even with `metrics.port` set: the port is the job's."""
        return False

    @property
    def reads_source(self) -> bool:
        """False: it reads what the job writes."""
        return False

    @property
    def truth(self) -> None:
        """It has no output."""

    @property
    def commit_within(self) -> None:
        """None: `stall_timeout` is the job's."""
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
        """Ignores both arguments, as a consumer shows nothing."""
        return ConsumerView()


@dataclass(frozen=True)
class ConsumerProgram(ProgramBase):
    """`job` is the one whose output is read; None leaves it to the configuration."""

    job: str | None = None
    shows_running: bool = False

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredConsumer:
        """The job that `run:` names wins over one in `settings`. Raises pydantic's ValidationError."""
        return ConfiguredConsumer(config=configuration(places, settings, self.job))


@dataclass(frozen=True)
class ConsumerKind:
    """`consumer`, and perhaps the job."""

    name: str = "consumer"
    example: str = "consumer"

    def program(self, words: str) -> Program:
        """`words` is a job's name or empty. Raises UsageError for a job that does not exist."""
        return ConsumerProgram(find_job(words))
