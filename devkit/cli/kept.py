"""Handing a stack over to its guardian, and saying how to reach and end it."""

import click

from devkit.guardian import Guardian
from devkit.stack.embedded import Stack


def keep_stack(stack: Stack, guardian: Guardian, **more: str) -> None:
    """Leave the stack up when this command ends, and print its addresses."""
    addresses = stack.addresses() | more
    guardian.release(addresses)
    click.echo(f"\nstack {guardian.run_id} stays up:", err=True)
    for name, address in addresses.items():
        click.echo(f"  {name:<14} {address}", err=True)
    click.echo("  `devkit status` shows it, `devkit logs -f` follows it, `devkit down` ends it", err=True)
