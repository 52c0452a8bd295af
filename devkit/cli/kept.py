"""Handing a stack over to its guardian, and saying how to reach and end it."""

from pathlib import Path

import click

from devkit.guardian import Guardian
from devkit.guardian.run_state import LOGS
from devkit.stack.stack import Stack


def keep_stack(stack: Stack, guardian: Guardian, logs: Path, *, spark_ui: str | None = None) -> None:
    """Leave the stack up when this command ends, and print its addresses."""
    addresses = stack.addresses() | ({"Spark UI": spark_ui} if spark_ui else {}) | {LOGS: str(logs.absolute())}
    guardian.release(addresses)
    click.echo(f"\nstack {guardian.run_id} stays up:", err=True)
    for name, address in addresses.items():
        click.echo(f"  {name:<14} {address}", err=True)
    click.echo("  `devkit status` shows it, `devkit logs -f` follows it, `devkit down` ends it", err=True)
