"""The pipeline on Spark as a program under test: `run: pipeline`, or `run: pipeline content-enrichment`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from devkit.debug.debugger import PATIENCE
from devkit.errors import StackError, UsageError
from devkit.extensions import require_here
from devkit.guardian import Guardian
from devkit.observe.arm import FirstTry
from devkit.programs.context import ProgramContext, Say
from devkit.programs.launch import Launch
from devkit.programs.like_pipeline import ConfiguredLikePipeline, ProgramLikePipeline
from devkit.programs.places import Places
from devkit.programs.program import Program, Role
from devkit.programs.spark.configuration import configuration
from devkit.programs.spark.job import job_named
from devkit.programs.spark.roles import role_of
from devkit.programs.spark.view import SparkView
from devkit.programs.state import ProgramState
from devkit.stack.stack import Stack

# A scenario's incident arm is what the unsafe policies are there for.
_OPTIONS = ("--allow-unsafe",)


@dataclass(frozen=True)
class ConfiguredSpark(ConfiguredLikePipeline):
    """The pipeline with the configuration of an arm."""

    def launch(self, context: ProgramContext) -> Launch:
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
        place = SparkPlace(
            store.endpoint,
            context.scratch or context.guardian.directory,
            slots=slots_for(config, context.source_partitions),
            ui=context.ui,
            settings=debugger.spark_settings() if debugger else {},
            installation=IN_IMAGE if container else None,
        )
        launch = prepare_launch(config, place, context.directory, credentials=store.credentials(), options=_OPTIONS)
        launch = replace(launch, scratch=context.scratch, container=container)
        return debugger.around(launch) if debugger else launch

    def try_start(self, context: ProgramContext) -> FirstTry:
        from devkit.programs.spark.first_try import try_start

        launch = context.with_environment(self.launch(context))
        return try_start(context.guardian, launch, context.logs, require_stack=context.stack.require_running)

    def view(self, state: ProgramState, context: ProgramContext) -> SparkView:  # noqa: ARG002 - part of the interface
        return SparkView(state)

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        return role_of(process, first)


@dataclass(frozen=True)
class SparkProgram(ProgramLikePipeline):
    """`job` is the one that `run:` names; None leaves it to the configuration."""

    job: str | None = None
    takes_debugger: bool = True

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredSpark:
        return ConfiguredSpark(config=configuration(places, settings, self.job))

    def make_ready(self, guardian: Guardian, stack: Stack, logs: Path, say: Say) -> None:
        """Makes the class cache where there is none; a run goes on without when that fails."""
        from devkit.programs.spark.training import is_trained, train

        if is_trained() or stack.image is not None:  # an image has a Spark of its own
            return
        say("first run on this machine: making Spark start faster, a minute")
        try:
            train(guardian, stack, logs)
        except StackError as error:
            stack.require_running()
            say(f"that failed, and Spark starts slower: {error}")


@dataclass(frozen=True)
class SparkKind:
    """`pipeline`, and perhaps the job."""

    name: str = "pipeline"
    example: str = "pipeline html-enrichment"

    def program(self, words: str) -> Program:
        return SparkProgram(job_named(words))


SPARK = SparkProgram()
