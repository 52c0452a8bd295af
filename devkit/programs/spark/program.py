"""The pipeline on Spark as a program under test: `run: pipeline`, or `run: pipeline content-enrichment`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import psutil

from devkit.debug.debugger import PATIENCE
from devkit.errors import UsageError
from devkit.extensions import require_here
from devkit.jvm import jars
from devkit.observe.arm_observation import FirstTry
from devkit.programs.launch import Addition, Launch
from devkit.programs.places import Places
from devkit.programs.program import Program, ServedMetrics
from devkit.programs.program_base import ConfiguredProgramBase, ProgramBase
from devkit.programs.program_context import ProgramContext, Reporter
from devkit.programs.program_state import ProgramState
from devkit.programs.role import Role
from devkit.programs.served_metrics import served_metrics
from devkit.programs.spark.configuration import configuration, find_job
from devkit.programs.spark.roles import role_of
from devkit.programs.spark.view import SparkView
from pipeline.metrics.catalogue import METRICS

# A scenario's incident arm is what the unsafe policies are there for.
_OPTIONS = ("--allow-unsafe",)
_LIMIT = "--memory-limit"
"""With it the job derives all memory settings itself, and refuses others."""


@dataclass(frozen=True)
class ConfiguredSpark(ConfiguredProgramBase):
    """The pipeline with the configuration of an arm."""

    @property
    def metrics(self) -> ServedMetrics:
        """By the catalogue."""
        return served_metrics(METRICS, self.config.metrics.rename)

    def launch(self, context: ProgramContext) -> Launch:
        """Writes the configuration. Raises UsageError for a debugger where it runs in a container."""
        # Spark and its Java are slow to import, and a file that is only checked needs neither.
        from devkit.programs.spark.launch import prepare_launch
        from devkit.programs.spark.place import IN_IMAGE, SparkPlace, slots_for

        debugger, store, container = context.debugger, context.stack.object_store, context.engine_container()
        if debugger and container:
            raise UsageError(
                "no debugger can be attached to a pipeline that runs in a container",
                hint="use `--stack embedded`, where its memory is looked at from outside",
            )
        if container:
            require_here("job", (self.config.job,), where="the pipeline's image")
        config = self.config.model_copy(update={"stall_timeout": PATIENCE}) if debugger else self.config
        is_derived = _LIMIT in context.arguments
        place = SparkPlace(
            context.store_endpoint,
            context.scratch or context.guardian.directory,
            slots=context.slots or slots_for(config, context.source_partitions),
            executors=context.executors,
            home_in=context.guardian.directory if context.executors and not container else None,
            driver_memory=None if is_derived else SparkPlace.driver_memory,
            ui=context.ui,
            settings={**context.spark, **(debugger.spark_settings() if debugger else {})},
            installation=IN_IMAGE if container else None,
        )
        launch = prepare_launch(
            config,
            place,
            context.directory,
            credentials=store.credentials(),
            options=_OPTIONS,
            # A default that the file says is a wish of its own, and nothing would be derived.
            with_defaults=not is_derived,
        )
        launch = replace(launch, scratch=context.scratch, container=container, first=Addition(("--new", context.start)))
        return debugger.around(launch) if debugger else launch

    def try_start(self, context: ProgramContext) -> FirstTry:
        """Never None. Raises StackError too when it ends without having refused, or does neither in time."""
        from devkit.programs.spark.first_try import try_start

        launch = context.completed(self.launch(context))
        return try_start(context.guardian, launch, context.logs, require_stack=context.stack.require_running)

    def view(self, state: ProgramState, context: ProgramContext) -> SparkView:  # noqa: ARG002 - part of the interface
        """Reads only the state: the checkpoint and the events show everything."""
        return SparkView(state)

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        """None also for a process that has ended, and for launchers and Spark's daemon."""
        return role_of(process, first)


@dataclass(frozen=True)
class SparkProgram(ProgramBase):
    """`job` is the one that `run:` names; None leaves it to the configuration."""

    job: str | None = None
    takes_debugger: bool = True
    runs_on_spark: bool = True

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredSpark:
        """The job that `run:` names wins over one in `settings`. Raises pydantic's ValidationError."""
        return ConfiguredSpark(config=configuration(places, settings, self.job))

    def fetch(self) -> None:
        """The jars that Spark needs beyond its own. Raises SetupError where there is no Spark."""
        from devkit.programs.spark.place import require_spark

        require_spark()
        jars.ensure(jars.SPARK)

    def after_verdict(self, say: Reporter) -> None:
        """Makes the class cache where there is none."""
        # Spark and its Java are slow to import.
        from devkit.programs.spark.training import train_after_verdict

        train_after_verdict(say)


@dataclass(frozen=True)
class SparkKind:
    """`pipeline`, and perhaps the job."""

    name: str = "pipeline"
    example: str = "pipeline html-enrichment"

    def program(self, words: str) -> Program:
        """`words` is a job's name or empty. Raises UsageError for a job that does not exist."""
        return SparkProgram(find_job(words))


SPARK = SparkProgram()
