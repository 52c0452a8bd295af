"""Which parts of a stack a fault holds now: reported by every command that shows the stack."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from devkit.errors import StackError

if TYPE_CHECKING:
    from devkit.faults.journal import Entry
    from devkit.guardian.run_state import RunState


def faults_on(run: "RunState") -> tuple["Entry", ...]:
    """The faults that hold parts of it now, oldest first; those that wait for their time are left out."""
    from devkit.faults.journal import Journal

    entries = (page.entry for page in Journal(run.run_id).pages())
    return tuple(entry for entry in entries if entry.parts and not entry.waits)


def tell_faults(run: "RunState", *, err: bool = False) -> None:
    """A line for each fault that holds a part, and for each that was refused when its time had come."""
    from devkit.faults.refused_fault import RefusedFaults

    for entry in faults_on(run):
        click.echo(f"  fault          {held(entry)}", err=err)
    for refused in RefusedFaults(run.directory).listed():
        remove = f"`devkit fault remove {refused.name} --run-id {run.run_id}` forgets it"
        click.echo(f"  fault          {refused.name} ({refused.asked}) was {refused.text}; {remove}", err=err)


def held(entry: "Entry") -> str:
    """Which part, by which fault, since when, until when, and how it is ended."""
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
def reaching(run: "RunState", fails: str, *parts: str) -> Iterator[None]:
    """Around what asks these parts. Raises StackError that says what `fails` and names the fault behind it.

    A part that a fault keeps from answering is not asked, as that would take minutes.
    """
    from devkit.faults.registry import FAULTS

    for entry in faults_on(run):
        if entry.fault in FAULTS and FAULTS[entry.fault].blinds and (hidden := sorted({*parts} & {*entry.parts})):
            raise StackError(
                f"{fails}: {', '.join(hidden)} does not answer while a fault holds it",
                hint=f"fault {held(entry)}",
            )
    try:
        yield
    except StackError as error:
        if not (entries := faults_on(run)):
            raise
        faults = "; ".join(f"fault {held(entry)}" for entry in entries)
        raise StackError(f"{fails}: {error}", hint=faults) from error
