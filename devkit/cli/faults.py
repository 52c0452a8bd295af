"""`devkit faults`: all faults there are, on parts and of the mock."""

import os
import subprocess
import sys

import click

from devkit.cli.extend_option import extend_option
from devkit.errors import UsageError


@click.command()
@click.argument("name", required=False)
@extend_option
def faults(name: str | None, extend: tuple[str, ...]) -> None:  # noqa: ARG001 — the option has loaded them
    """All faults with their parameters and an example: those on parts, then those of the mock's rules.

    With NAME only that one, with what each parameter may be.
    """
    from devkit.faults.listing import PARTS, in_full, in_short
    from devkit.faults.registry import FAULTS, unknown_fault
    from located_config.extension import environment_for

    if name is not None and name in FAULTS:
        click.echo(in_full(FAULTS[name]))
        return
    if name is None:
        click.echo("On the parts of a stack, the programs and the machine: `timeline` of a scenario, `fault add --do`")
        for fault in FAULTS.values():
            click.echo(in_short(fault))
        click.echo(f"parts are {PARTS}")
        click.echo("`devkit faults NAME` says what a parameter may be")
        click.echo("\nOf the mock API: `mock.rules` of a scenario, `devkit fault add`\n")
    argv = [sys.executable, "-P", "-m", "mockapi", "faults", *([name] if name else [])]
    environment = os.environ | environment_for("fault of the mock")
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise UsageError(f"on a part: {unknown_fault(str(name))}", hint=f"of the mock: {done.stderr.strip()}")
    click.echo(done.stdout, nl=False)
