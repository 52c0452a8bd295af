"""`devkit ps`: which parts run, as what, in which state, and where they answer."""

import sys

import click
import psutil

from devkit.docker.access import DockerAccess
from devkit.docker.command import docker
from devkit.errors import StackError
from devkit.guardian.state import PartPlace, RunState, known_runs

_GOOD = ("running", "theirs")


@click.command()
def ps() -> None:
    """The parts of the stacks that are up: process or container, state, address. Exit 3 when one does not run."""
    runs = [run for run in known_runs() if run.guardian_is_alive()]
    if not runs:
        click.echo("no stack is up")
    well = True
    for run in runs:
        click.echo(f"stack {run.run_id} ({'kept' if run.released else 'of a command that is running'})")
        for part in run.parts:
            state = _state(part, run)
            well &= state.startswith(_GOOD)
            click.echo(f"  {part.name:<14} {_runs_as(part):<24} {state:<14} {part.address}")
    sys.exit(0 if well else StackError.exit_code)


def _runs_as(part: PartPlace) -> str:
    if part.container is not None:
        return f"container {part.container[:12]}"
    return f"process {part.pid}" if part.pid is not None else "not ours"


def _state(part: PartPlace, run: RunState) -> str:
    if part.container is not None and run.docker is not None:
        return _container_state(part.container, run.docker)
    if part.pid is None:
        return "theirs"
    try:
        ended = psutil.Process(part.pid).status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        ended = True
    return "ended" if ended else "running"


def _container_state(container: str, access: DockerAccess) -> str:
    fields = "{{.State.Status}}{{if .State.Health}}, {{.State.Health.Status}}{{end}}"
    try:
        return docker(access, ["container", "inspect", "--format", fields, container], what="asking for it").strip()
    except StackError as error:
        return f"unknown ({error})"
