"""What `down`, `heal` and `clean` report of external stacks on which runs of this machine were."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from devkit.stack.visits import Tidied


def tell_visits(tidied: Iterable["Tidied"]) -> bool:
    """Whether nothing is left that the kit could have removed."""
    is_clean = True
    for one in tidied:
        visit = one.visit
        kafka, store = visit.addresses.kafka, visit.addresses.s3_endpoint
        if one.why:
            is_clean = False
            click.echo(f"warning: run {visit.run_id} left things at {kafka} and {store}: {one.why}", err=True)
            continue
        click.echo(f"removed what run {visit.run_id} left below {visit.prefix} at {store}")
        if one.left:
            click.echo(f"left at {kafka}, as they may be in use again: topics {', '.join(one.left)}")
            click.echo(f"  to remove one: kafka-topics.sh --bootstrap-server {kafka} --delete --topic NAME")
    return is_clean
