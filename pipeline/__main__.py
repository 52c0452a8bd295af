"""`python -m pipeline run html-enrichment --config FILE`: exit 0 stopped, 1 the query failed, 2 refused to begin.

`python -m pipeline deferred list | show | retry | drop --config FILE`: what the job has put aside.
"""

import os
import sys
from pathlib import Path

import click

from pipeline import log
from pipeline.errors import PipelineError, RefusedError
from pipeline.load import load_config
from pipeline.stall import StalledError
from pipeline.start import CHOICES, parse_new
from pipeline.unsafe import unsafe_settings


class _Commands(click.Group):
    """`deferred` is loaded when it is asked for: a job that starts need not wait for a Kafka client's modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "deferred"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "deferred":
            return super().get_command(ctx, cmd_name)
        from pipeline.ops.commands import deferred

        return deferred


@click.group(cls=_Commands)
def main() -> None:
    """The enrichment pipeline."""


@main.command()
@click.argument("job", type=click.Choice(["html-enrichment"]))
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="YAML file.")
@click.option("--new", "new_start", metavar="POSITION", help=f"Make a checkpoint, and begin at {CHOICES}.")
@click.option("--allow-unsafe", is_flag=True, help="Accept an incident's policies, and too few slots.")
def run(job: str, config_file: Path, new_start: str | None, *, allow_unsafe: bool) -> None:
    """Run JOB until SIGTERM, continuing from its checkpoint unless --new says where to begin."""
    try:
        config = load_config(config_file)
        if config.job != job:
            raise RefusedError(f"{config_file} is for job {config.job!r}, not {job!r}")
        unsafe = unsafe_settings(config)
        if unsafe and not allow_unsafe:
            raise RefusedError(
                f"unsafe: {', '.join(unsafe)}", hint="each reproduces an incident; --allow-unsafe accepts them"
            )
        new = parse_new(new_start) if new_start else None
        log.say("configuration", unsafe=unsafe, in_force=config.model_dump(mode="json", by_alias=True))
        from pipeline import stream

        stream.run(config, new, allow_unsafe=allow_unsafe)
    except PipelineError as error:
        log.say("failed", error=str(error), refused=isinstance(error, RefusedError))
        click.echo(error.render(), err=True)
        if isinstance(error, StalledError):
            # What is still at work must not hold the process: Spark would wait for it.
            sys.stderr.flush()
            os._exit(error.exit_code)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
