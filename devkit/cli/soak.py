"""`devkit soak`."""

import shlex
from pathlib import Path

import click

from devkit.cli.options import duration_of, extend_option, play_options, set_option
from devkit.cli.scenario_run import run
from devkit.errors import UsageError

_SEED, _FOR = 1, "2m"


@click.command(short_help="Random faults on every part under live traffic, then an audit.")
@click.option(
    "--job",
    "job_name",
    metavar="NAME",
    help="Job to soak, by the names of `devkit up --job`: rdf-updater is its three programs. Default: html-enrichment.",
)
@click.option("--seed", type=click.IntRange(min=0), help=f"Seed of the faults and of the traffic. Default: {_SEED}.")
@click.option("--for", "for_", metavar="TIME", help=f"Time to publish events for, for example 10m. Default: {_FOR}.")
@click.option(
    "--replay",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Play the faults of this file, which an earlier soak wrote, instead of drawing some.",
)
@set_option
@play_options
@extend_option
@click.pass_context
def soak(
    context: click.Context,
    job_name: str | None,
    seed: int | None,
    for_: str | None,
    replay: Path | None,
    written: tuple[str, ...],
    out: Path,
    stretch: int | None,
    extend: tuple[str, ...],
    *,
    as_json: bool,
    plain: bool,
) -> None:
    """Let random faults act on three brokers, the network, the stores, the programs and the mock API, under live
    traffic; then end them all, drain, and audit every event.

    Exit code 0: nothing was lost, out of order for its page, or repeated beyond what restarts read again; of
    rdf-updater, the triple store has every entity as the wiki has it. Exit code 1: the run names what was. The faults
    and their times are a scenario file, which --replay plays again.

    The job has its default configuration; --set pipeline.KEY=VALUE gives it another one. --extend loads a job of your
    own.
    """
    if replay is not None and (job_name, seed, for_) != (None, None, None):
        raise UsageError(
            "--replay plays the faults of a file, and --job, --seed and --for draw some", hint="give one of both"
        )
    file = replay or _drawn(job_name, _SEED if seed is None else seed, for_ or _FOR, out)
    if replay is None:
        # The file has the faults as they were drawn; what was changed about the job stays on the command line.
        again = ["devkit", "soak", "--replay", str(file)]
        again += [word for change in written for word in ("--set", change)]
        again += [word for module in extend for word in ("--extend", module)]
        click.echo(f"faults: {file}; `{shlex.join(again)}` plays them again", err=True)
    context.invoke(
        run,
        name_or_file=str(file),
        arm_names=("fixed",),
        written=written,
        out=out,
        as_json=as_json,
        plain=plain,
        stretch=stretch,
        extend=extend,
    )


def _drawn(job_name: str | None, seed: int, for_: str, out: Path) -> Path:
    from devkit.programs.stack_job import DEFAULT, find_stack_job
    from devkit.soak.document import faults_of, soak_text
    from devkit.soak.drawn_faults import LEAST
    from located_config.duration import format_duration

    job = job_name or DEFAULT
    find_stack_job(job)
    length = duration_of("--for", for_)
    if length < LEAST:
        raise UsageError(f"--for: {for_} is too short for a fault", hint=f"{format_duration(LEAST)} is the least")
    if not faults_of(seed, length, job):
        raise UsageError(f"--seed: {seed} draws no fault for {for_}", hint="give another seed, or a longer time")
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"soak-{seed}-{format_duration(length)}.yaml"
    file.write_text(soak_text(seed, length, job))
    return file
