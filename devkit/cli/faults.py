"""`devkit faults`: all faults there are, on parts and of the mock."""

import os
import subprocess
import sys

import click

from devkit.cli.options import extend_option
from devkit.errors import DevkitError, UsageError


@click.command(short_help="Show all faults with their parameters and an example.")
@click.argument("name", required=False)
@extend_option
def faults(name: str | None, extend: tuple[str, ...]) -> None:  # noqa: ARG001 — the option has loaded them
    """All faults with their parameters and an example: those on parts, then those of the mock's rules.

    With NAME only that one, with what each parameter may be.
    """
    from devkit.faults.listing import PARTS, in_full, in_short
    from devkit.faults.registry import FAULTS
    from located_config.extension import environment_for
    from located_config.model_keys import known_keys
    from located_config.near import nearest
    from mockapi.rules.model import Rule

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
    elif name not in (of_mock := known_keys(Rule, ("do",))):
        near = nearest(name, (*FAULTS, *of_mock))
        hint = f"did you mean {near!r}?" if near else "`devkit faults` lists all"
        raise UsageError(f"there is no fault {name!r}, neither on a part nor of the mock", hint=hint)
    argv = [sys.executable, "-P", "-m", "mockapi", "faults", *([name] if name else [])]
    environment = os.environ | environment_for("fault of the mock")
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise DevkitError(f"the faults of the mock cannot be listed: {done.stderr.strip()}")
    click.echo(done.stdout, nl=False)
