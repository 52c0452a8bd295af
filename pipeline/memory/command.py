"""`python -m pipeline memory --memory-limit 4GiB --slots 4`: how the limit is divided; exit 2 when it is too small."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import MIB, MediaWiki, PipelineConfig, Sink, Source
from pipeline.errors import RefusedError
from pipeline.events import Memory
from pipeline.memory.division import MemoryPlan, derive
from pipeline.memory.spark import place_of, spark_settings
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.options import SizeParam


def lines(plan: MemoryPlan, config: PipelineConfig) -> Iterator[str]:
    """What `pipeline memory` prints."""
    owner = "this process and its children" if plan.place == "local" else "an executor"
    rounds = f", {plan.rounds} of them for slow rounds" if plan.rounds else ""
    yield f"{_mib(plan.limit)} for {owner}, {plan.slots} slots{rounds}"
    yield ""
    row = "  {:<18} {:>9}  {}".format
    for part in plan.parts:
        yield row(part.what, _mib(part.size), part.why)
    yield row("remaining", _mib(plan.limit - plan.total), "")
    yield ""
    yield "The pipeline's settings:"
    for key, value in plan.settings.items():
        yield f"  {key}: {_mib(value).replace(' ', '')}"
    yield ""
    yield "Spark's settings, which `run` gives itself where it starts Spark:"
    for key, setting in spark_settings(plan, config).items():
        yield f"  --conf {key}={setting}"


def memory_event(plan: MemoryPlan) -> Memory:
    """For the log."""
    return Memory(
        limit={"bytes": plan.limit, "slots": plan.slots, "place": plan.place},
        parts={part.what: part.size for part in plan.parts},
        settings=plan.settings,
    )


def _mib(size: int) -> str:
    return f"{size // MIB} MiB"


_NOWHERE = "127.0.0.1:1"
_MASTER = re.compile(r"local(-cluster)?(\[.*\])?|yarn|(spark|k8s)://.+")


@click.command(short_help="Show how a memory limit is divided.")
@click.option(
    "--memory-limit", "limit", type=SizeParam(), required=True, help="Memory limit of the container, for example 4GiB."
)
@click.option("--slots", type=click.IntRange(min=1), required=True, help="Number of tasks that Spark runs at once.")
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    help="The job's YAML file. Default: a configuration of defaults.",
)
@click.option(
    "--master",
    default="local",
    show_default=True,
    help="Spark's master. With that of a cluster, --memory-limit is the limit of one executor.",
)
def memory(limit: int, slots: int, config_file: Path | None, master: str) -> None:
    """Show how a memory limit is divided, and the settings that follow from it."""
    with exit_codes():
        if not _MASTER.fullmatch(master):
            raise RefusedError(
                f"--master {master}: not a master that Spark knows",
                hint="local[N], spark://HOST:PORT, k8s://… or yarn",
            )
        config = load_config(config_file) if config_file else _defaults()
        for line in lines(derive(limit, slots, config, place=place_of(master)), config):
            click.echo(line)


def _defaults() -> PipelineConfig:
    source, sink = Source(bootstrap_servers=_NOWHERE), Sink(bootstrap_servers=_NOWHERE)
    return PipelineConfig(
        source=source, sink=sink, mediawiki=MediaWiki(endpoint=f"http://{_NOWHERE}"), checkpoint="nowhere"
    )
