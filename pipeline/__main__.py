"""`python -m pipeline run JOB --config FILE`: exit 0 stopped, 1 the query failed, 2 refused to begin,
3 stopped in the middle of a batch, as its time was over.

`python -m pipeline check FILE`: whether `run` would accept a job's configuration.
`python -m pipeline deferred list | show | retry | drop --config FILE`: the job's deferred events.
`python -m pipeline checkpoint | lag | replay | fan-out`: where it stands, and the events of its source once more.
`python -m pipeline bootstrap`: a checkpoint that goes on from a dump.
`python -m pipeline state show | verify`: what a job remembers of the events that it has seen.
`python -m pipeline apply --config FILE`: mutations into a triple store.
`python -m pipeline memory`: how a memory limit would be divided.
`python -m pipeline claims sweep`: removes claim checks that nothing refers to.
`python -m pipeline --extend my_job.py run my-job …`: a job of the user's own.
"""

import importlib
import os
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import click

from located_config.near import near_miss
from pipeline import log
from pipeline.config.config_file import load_config
from pipeline.config.start_position import CHOICES, parse_new
from pipeline.config.unsafe import require_safe, unsafe_settings
from pipeline.deferral.ledger_start import LedgerWish
from pipeline.driver.process_exit import log_failure
from pipeline.driver.session import submitted_settings
from pipeline.driver.spark_conf import given_settings, is_submitted, require_of_spark, require_protocol
from pipeline.driver.stop import StoppedEarlyError, on_signals, pass_signals_on, stop_early
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import Configuration, Stopped
from pipeline.jobs.extensions import load_extensions
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.memory.budget import budget
from pipeline.memory.command import memory_event
from pipeline.ops.command_group import CommandGroup
from pipeline.ops.options import SizeParam

# Loaded when they are asked for: a job that starts need not wait for a Kafka client's modules.
_OPERATIONS = {
    "apply": ("pipeline.apply.command", "apply"),
    "bootstrap": ("pipeline.ops.bootstrap_command", "bootstrap"),
    "checkpoint": ("pipeline.ops.checkpoint_commands", "checkpoint"),
    "consume": ("pipeline.consumer.command", "consume"),
    "check": ("pipeline.ops.check_command", "check"),
    "claims": ("pipeline.claims.commands", "claims"),
    "deferred": ("pipeline.ops.commands", "deferred"),
    "fan-out": ("pipeline.ops.topic_commands", "fan_out"),
    "memory": ("pipeline.memory.command", "memory"),
    "lag": ("pipeline.ops.checkpoint_commands", "lag"),
    "plan": ("pipeline.capacity.command", "plan"),
    "state": ("pipeline.state.commands", "state"),
    "reconcile": ("pipeline.ops.reconcile_command", "reconcile"),
    "replay": ("pipeline.ops.topic_commands", "replay"),
}
_INSTALL_SPARK = "pip install 'enrichment-pipeline[spark]'"


class _Commands(CommandGroup):
    """The commands of other modules beside those of this one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_OPERATIONS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _OPERATIONS:
            return super().get_command(ctx, cmd_name)
        module, name = _OPERATIONS[cmd_name]
        try:
            command: click.Command = getattr(importlib.import_module(module), name)
        except ModuleNotFoundError:
            if _has_spark():
                raise
            return _unavailable(cmd_name)
        return command


def _has_spark() -> bool:
    return find_spec("pyspark") is not None


def _unavailable(name: str) -> click.Command:
    """In place of a command whose modules need Spark."""

    @click.command(name, short_help="(Spark is not installed)", context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1)
    def refuse(arguments: tuple[str, ...]) -> None:  # noqa: ARG001 - none matters
        log_failure(RefusedError(f"{name} uses Spark, which is not installed", hint=_INSTALL_SPARK))
        sys.exit(RefusedError.exit_code)

    return refuse


class _JobParam(click.ParamType):  # type: ignore[type-arg]  # generic only in the stubs
    """The name of a job, which may be one of an extension's."""

    name = "job"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        return "JOB"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in JOB_DEFAULTS:
            self.fail(f"there is no job {value!r}; {near_miss(value, JOB_DEFAULTS)}", param, ctx)
        return value


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--extend",
    multiple=True,
    metavar="PATH|MODULE",
    help="Load Python of your own that adds a job: a file, or an importable module.",
)
def main(extend: tuple[str, ...]) -> None:
    """The enrichment pipeline."""
    try:
        load_extensions(extend)
    except PipelineError as error:
        log_failure(error)
        sys.exit(error.exit_code)


@main.command(short_help="Run a job until SIGTERM.")
@click.argument("job", type=_JobParam())
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file.")
@click.option(
    "--new",
    "new_start",
    metavar="POSITION",
    help=f"Create a new checkpoint and begin at {CHOICES}. Default: continue from the checkpoint.",
)
@click.option(
    "--memory-limit",
    type=SizeParam(),
    help="Derive all memory settings from this limit, for example 4GiB. Default: the configuration's own settings.",
)
@click.option(
    "--slots",
    type=click.IntRange(min=1),
    help="Number of tasks at once: N of local[N], or an executor's cores. Default: Spark's own setting.",
)
@click.option(
    "--adopt-ledger",
    "wish",
    flag_value="adopt",
    help="Take over the deferred events of `deferral.topic`, although the checkpoint does not name that topic, or is "
    "new. Default: refuse.",
)
@click.option(
    "--discard-ledger",
    "wish",
    flag_value="discard",
    help="Give up the deferred events of `deferral.topic`, and create the topic where it is missing. Default: refuse.",
)
@click.option(
    "--allow-unsafe",
    is_flag=True,
    help="Start although the configuration is unsafe or there are too few slots. Default: refuse.",
)
def run(
    job: str,
    config_file: Path,
    new_start: str | None,
    *,
    memory_limit: int | None,
    slots: int | None,
    wish: LedgerWish | None,
    allow_unsafe: bool,
) -> None:
    """Run JOB until SIGTERM, continuing from its checkpoint unless --new says where to begin.

    JOB is html-enrichment, content-enrichment, edit-counts, rdf-resolve, rdf-decide or one that an extension adds.
    """
    on_signals(stop_early)
    try:
        config = load_config(config_file)
        if config.job != job:
            raise RefusedError(f"{config_file} is for job {config.job!r}, not {job!r}")
        unsafe = unsafe_settings(config)
        if not allow_unsafe:
            require_safe(unsafe)
        new = parse_new(new_start, datetime.now(UTC)) if new_start is not None else None
        if is_submitted():
            pass_signals_on()
        spark_settings = submitted_settings() if is_submitted() else given_settings()
        require_of_spark(spark_settings)
        require_protocol(spark_settings)
        resolved = budget(config, spark_settings, limit=memory_limit, slots=slots)
        config = resolved.config
        effective = config.model_dump(mode="json", by_alias=True)
        log.emit(Configuration(unsafe=tuple(unsafe), effective=effective))
        if resolved.plan is not None:
            log.emit(memory_event(resolved.plan))
        if not _has_spark():
            raise RefusedError("a job runs on Spark, which is not installed", hint=_INSTALL_SPARK)
        from pipeline.driver import query

        query.run(resolved, new, allow_unsafe=allow_unsafe, ledger=wish)
    except (StoppedEarlyError, KeyboardInterrupt):
        log.emit(Stopped(seconds=0, rounds_given_up=0))
    except PipelineError as error:
        log_failure(error)
        if not isinstance(error, RefusedError):
            # What is still at work must not hold the process: Spark would wait for it, and a record that is on its way
            # to a broker that is gone has no other end.
            os._exit(error.exit_code)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
