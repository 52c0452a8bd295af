"""Lines about a stack that several commands print: its addresses, its faults, and objects that were removed."""

import contextlib
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devkit.errors import StackError

if TYPE_CHECKING:
    from devkit.faults.journal import Entry
    from devkit.guardian import Guardian
    from devkit.guardian.run_state import RunState
    from devkit.stack.external_lease import ReleasedLease
    from devkit.stack.stack import Stack


def keep_stack(stack: "Stack", guardian: "Guardian", logs: Path, *, spark_ui: str | None = None) -> None:
    """Leave the stack up when this command ends, and print its addresses."""
    from devkit.guardian.run_state import LOGS

    addresses = stack.addresses() | ({"Spark UI": spark_ui} if spark_ui else {}) | {LOGS: str(logs.absolute())}
    guardian.release(addresses)
    click.echo(f"\nstack {guardian.run_id} stays up:", err=True)
    for name, address in addresses.items():
        click.echo(f"  {name:<14} {address}", err=True)
    click.echo("  `devkit status` shows it, `devkit logs -f` follows it, `devkit down` ends it", err=True)


def report_released(tidied: Iterable["ReleasedLease"]) -> bool:
    """Whether nothing is left that the kit could have removed."""
    is_clean = True
    for released in tidied:
        lease = released.lease
        kafka, store = lease.addresses.kafka, lease.addresses.s3_endpoint
        if released.why:
            is_clean = False
            click.echo(f"warning: run {lease.run_id} has things at {kafka} and {store}: {released.why}", err=True)
            continue
        click.echo(f"removed the objects of run {lease.run_id} below {lease.prefix} at {store}")
        if released.remaining:
            click.echo(f"kept at {kafka}, as they may be in use again: topics {', '.join(released.remaining)}")
            click.echo(f"  to remove one: kafka-topics.sh --bootstrap-server {kafka} --delete --topic NAME")
    return is_clean


def faults_on(run: "RunState") -> tuple["Entry", ...]:
    """The faults that hold parts of the stack now, oldest first, without those that wait for their time."""
    from devkit.faults.journal import Journal

    entries = (page.entry for page in Journal(run.run_id).pages())
    return tuple(entry for entry in entries if entry.parts and not entry.waits)


def report_faults(run: "RunState", *, err: bool = False) -> None:
    """A line for each fault that holds a part, and for each that was refused when its time had come."""
    from devkit.faults.refused_fault import RefusedFaults

    for entry in faults_on(run):
        click.echo(f"  fault          {describe_fault(entry)}", err=err)
    for refused in RefusedFaults(run.directory).listed():
        remove = f"`devkit fault remove {refused.name} --run-id {run.run_id}` forgets it"
        click.echo(f"  fault          {refused.name} ({refused.asked}) was {refused.text}; {remove}", err=err)


def describe_fault(entry: "Entry") -> str:
    """The parts that the fault holds, since when, until when, and the command that ends it."""
    by_hand = entry.holder is not None
    began = entry.began.astimezone()
    if entry.lasts_s is not None:
        until = f"{began + timedelta(seconds=entry.lasts_s):%H:%M:%S}"
    else:
        until = "it is removed" if by_hand else "the arm ends"
    remove = f"`devkit fault remove {entry.name} --run-id {entry.run_id}` ends it"
    how = remove if by_hand else "it is of the scenario's timeline, which ends it"
    parts = ", ".join(entry.parts)
    return f"{entry.name} holds {parts} ({entry.asked}) since {began:%H:%M:%S}, until {until}; {how}"


@contextlib.contextmanager
def naming_faults(run: "RunState", fails: str, *parts: str) -> Iterator[None]:
    """Around code that asks these parts. Raises StackError that says what `fails` and names the fault that causes it.

    A part that a fault keeps from answering is not asked, as that would take minutes.
    """
    from devkit.faults.registry import FAULTS

    for entry in faults_on(run):
        if entry.fault in FAULTS and FAULTS[entry.fault].blinds and (hidden := sorted({*parts} & {*entry.parts})):
            raise StackError(
                f"{fails}: {', '.join(hidden)} does not answer while a fault holds it",
                hint=f"fault {describe_fault(entry)}",
            )
    try:
        yield
    except StackError as error:
        if not (entries := faults_on(run)):
            raise
        faults = "; ".join(f"fault {describe_fault(entry)}" for entry in entries)
        raise StackError(f"{fails}: {error}", hint=faults) from error
