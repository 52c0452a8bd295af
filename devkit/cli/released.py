"""What `down`, `heal` and `clean` report of external stacks on which runs of this machine were."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from devkit.stack.external_lease import ReleasedLease


def report_released(tidied: Iterable["ReleasedLease"]) -> bool:
    """Whether nothing is left that the kit could have removed."""
    is_clean = True
    for one in tidied:
        lease = one.lease
        kafka, store = lease.addresses.kafka, lease.addresses.s3_endpoint
        if one.why:
            is_clean = False
            click.echo(f"warning: run {lease.run_id} has things at {kafka} and {store}: {one.why}", err=True)
            continue
        click.echo(f"removed the objects of run {lease.run_id} below {lease.prefix} at {store}")
        if one.remaining:
            click.echo(f"kept at {kafka}, as they may be in use again: topics {', '.join(one.remaining)}")
            click.echo(f"  to remove one: kafka-topics.sh --bootstrap-server {kafka} --delete --topic NAME")
    return is_clean
