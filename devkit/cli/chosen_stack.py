"""Which of the stacks that are up a command is about."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from devkit.errors import StackError, UsageError
from devkit.guardian.run_state import DIRECT, RunState, known_runs

if TYPE_CHECKING:
    from devkit.stack.addresses import Addresses

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


def addresses_of(run_id: str) -> "Addresses":
    """Those of a stack that was left up, for runs on it. Raises UsageError for one that has a program of its own."""
    from devkit.stack.addresses import Addresses

    (run,) = named(run_id, [run for run in stacks_up() if run.released])
    if any(program.exit_code is None for program in run.programs):
        raise UsageError(
            f"stack {run_id} runs a job, whose topics each arm would delete and make afresh",
            hint="`devkit up --no-pipeline` starts one without",
        )
    is_there = SPARQL_QUERY in run.addresses
    return Addresses(
        kafka=address_of(run, KAFKA),
        s3_endpoint=address_of(run, OBJECT_STORE),
        mock_api=address_of(run, MOCK_API),
        triple_store_query=address_of(run, SPARQL_QUERY) if is_there else None,
        triple_store_update=address_of(run, SPARQL_UPDATE) if is_there else None,
        may_recreate_topics=True,
        may_clear_triple_store=True,
    )


def named(run_id: str | None, runs: list[RunState]) -> list[RunState]:
    """The one of this id, or all where none is named. Raises UsageError when there is none of this id."""
    chosen = [run for run in runs if run_id in (None, run.run_id)]
    if run_id is not None and not chosen:
        up_now = ", ".join(run.run_id for run in runs) or "none"
        raise UsageError(f"there is no stack {run_id}", hint=f"stacks that are up: {up_now}")
    return chosen


def address_of(run: RunState, part: str) -> str:
    """Where the kit reaches a part of it, past any proxy. Raises StackError when it has no such part."""
    if part not in run.addresses:
        raise StackError(f"stack {run.run_id} has no {part}", hint="`devkit status` says what it has")
    return run.addresses.get(part + DIRECT, run.addresses[part])
