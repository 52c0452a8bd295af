"""`python -m pipeline memory --memory-limit 4GiB --slots 4`: how the limit is divided; exit 2 when it is too small."""

from pathlib import Path

import click

from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import MediaWiki, PipelineConfig, Sink, Source
from pipeline.memory.division import derive
from pipeline.memory.options import SizeParam
from pipeline.memory.show import lines
from pipeline.memory.spark import place_of
from pipeline.ops.exit_codes import exit_codes

_NOWHERE = "127.0.0.1:1"


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
        config = load_config(config_file) if config_file else _defaults()
        for line in lines(derive(limit, slots, config, place=place_of(master)), config):
            click.echo(line)


def _defaults() -> PipelineConfig:
    source, sink = Source(bootstrap_servers=_NOWHERE), Sink(bootstrap_servers=_NOWHERE)
    return PipelineConfig(
        source=source, sink=sink, mediawiki=MediaWiki(endpoint=f"http://{_NOWHERE}"), checkpoint="nowhere"
    )
