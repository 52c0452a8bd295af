"""What is said of faults that were undone after their run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from devkit.faults.undo import Undone


def tell_undone(found: "Sequence[Undone]") -> None:
    """Print what became of each fault: undone, irreversible, or not undone and why (standard error)."""
    for one in found:
        if one.why:
            click.echo(
                f"warning: fault {one.name} of run {one.run_id} ({one.asked}) is not undone: {one.why}", err=True
            )
        for text in one.irreversible:
            click.echo(f"fault {one.name} of run {one.run_id} cannot be undone: {text}")
        if not one.why and not one.irreversible:
            click.echo(f"undone fault {one.name} of run {one.run_id} ({one.asked})")
