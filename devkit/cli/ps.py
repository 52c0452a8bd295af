"""`devkit ps`: which parts and programs run, as what, in which state, where they answer and what a fault holds."""

import sys

import click
import psutil

from devkit.cli.stack_report import report_faults
from devkit.docker.access import DockerAccess
from devkit.docker.command import docker
from devkit.errors import StackError
from devkit.guardian.run_state import PartPlace, ProgramPlace, RunState, known_runs
from devkit.observe.logs.log_end import written

_GOOD = ("running", "theirs")


@click.command(short_help="List the parts and programs of the stacks that are up.")
def ps() -> None:
    """List the parts and programs of the stacks that are up: process or container, state, address or log.

    A part that a fault has stopped or paused is shown with the fault's name. Exit 3 when a part or program does
    not run.
    """
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
        for program in run.programs:
            state = _state_of_program(program)
            well &= state.startswith(_GOOD)
            click.echo(f"  {program.name:<14} {f'process {program.pid}':<24} {state:<14} program, log {_log(program)}")
        report_faults(run)
    sys.exit(0 if well else StackError.exit_code)


def _runs_as(part: PartPlace) -> str:
    if part.container is not None:
        return f"container {part.container[:12]}"
    return f"process {part.pid}" if part.pid is not None else "not ours"


def _state(part: PartPlace, run: RunState) -> str:
    if part.container is not None and run.docker is not None:
        return _container_state(part.container, run.docker)
    return "theirs" if part.pid is None else _process_state(part.pid)


def _state_of_program(program: ProgramPlace) -> str:
    return _process_state(program.pid) if program.exit_code is None else f"ended ({program.exit_code})"


def _log(program: ProgramPlace) -> str:
    return written(program.log) if program.output is None else written(program.output, program.log)


def _process_state(pid: int) -> str:
    try:
        status = psutil.Process(pid).status()
    except psutil.Error:
        return "ended"
    return {psutil.STATUS_ZOMBIE: "ended", psutil.STATUS_STOPPED: "stands still"}.get(status, "running")


def _container_state(container: str, access: DockerAccess) -> str:
    fields = "{{.State.Status}}{{if .State.Health}}, {{.State.Health.Status}}{{end}}"
    try:
        return docker(access, ["container", "inspect", "--format", fields, container], what="asking for it").strip()
    except StackError as error:
        return f"unknown ({error})"
