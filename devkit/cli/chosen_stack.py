"""Which of the stacks that are up a command is about."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from devkit.errors import StackError, UsageError
from devkit.guardian.run_state import DIRECT, RunState, known_runs

MOCK_API = "mock API"
KAFKA = "kafka"
OBJECT_STORE = "object store"
EVENT_BUS = "event bus"
SPARQL_QUERY = "SPARQL query"
SPARQL_UPDATE = "SPARQL update"

_WHICH = "Id of the stack or of the running scenario, as `devkit status` shows it. Default: "

F = TypeVar("F", bound=Callable[..., Any])


def run_id_option(command: F) -> F:
    """Adds `--run-id`, by default that of the newest stack."""
    return _run_id("the stack that came up last.")(command)


def own_run_id_option(command: F) -> F:
    """Adds `--run-id`, by default that of the only stack that this checkout left up."""
    return _run_id("the only stack that this checkout left up.")(command)


def _run_id(default: str) -> Callable[[F], F]:
    return click.option("--run-id", metavar="ID", help=_WHICH + default)


def stacks_up() -> list[RunState]:
    """The stacks in the order in which they came up; kept ones and those of a running command alike."""
    return [run for run in known_runs() if run.guardian_is_alive() and run.addresses]


def running_stack(run_id: str | None) -> RunState:
    """The stack with this id, else the newest. Raises UsageError."""
    runs = stacks_up()
    if run_id is None and not runs:
        raise UsageError("no stack is up", hint="`devkit up` starts one, `devkit scenario run NAME --keep` leaves one")
    return named(run_id, runs)[-1]


def named(run_id: str | None, runs: list[RunState]) -> list[RunState]:
    """The one of this id, or all where none is named. Raises UsageError when there is none of this id."""
    chosen = [run for run in runs if run_id in (None, run.run_id)]
    if run_id is not None and not chosen:
        up_now = ", ".join(run.run_id for run in runs) or "none"
        raise UsageError(f"there is no stack {run_id}", hint=f"up are: {up_now}")
    return chosen


def address_of(run: RunState, part: str) -> str:
    """Where the kit reaches a part of it, past any proxy. Raises StackError when it has no such part."""
    if part not in run.addresses:
        raise StackError(f"stack {run.run_id} has no {part}", hint="`devkit status` says what it has")
    return run.addresses.get(part + DIRECT, run.addresses[part])
