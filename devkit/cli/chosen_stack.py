"""Which of the stacks that are up a command is about."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from devkit.errors import StackError, UsageError
from devkit.guardian.run_state import CHECKOUT, DIRECT, RunState, known_runs
from located_config.count import counted

if TYPE_CHECKING:
    from devkit.stack.addresses import Addresses

MOCK_API = "mock API"
KAFKA = "kafka"
OBJECT_STORE = "object store"
EVENT_BUS = "event bus"
SPARQL_QUERY = "SPARQL query"
SPARQL_UPDATE = "SPARQL update"

_WHICH = (
    "Id of the stack or of the running scenario, as `devkit status` shows it. Default: the only one of this checkout."
)
_NONE_UP = "`devkit up` starts one, `devkit scenario run NAME --keep` leaves one"

F = TypeVar("F", bound=Callable[..., Any])


def run_id_option(command: F) -> F:
    """Adds `--run-id`, by default that of the only stack of this checkout."""
    return click.option("--run-id", metavar="ID", help=_WHICH)(command)


def stacks_up() -> list[RunState]:
    """The stacks in the order in which they came up; kept ones and those of a running command alike."""
    return [run for run in known_runs() if run.guardian_is_alive() and run.addresses]


def running_stack(run_id: str | None) -> RunState:
    """The stack with this id, else the only one of this checkout. Raises UsageError."""
    return choose_run(run_id, stacks_up(), none_up=_NONE_UP)


def choose_run(run_id: str | None, runs: Sequence[RunState], *, none_up: str, kind: str = "stack") -> RunState:
    """The run with this id, else the only one of this checkout. Raises UsageError that names those to choose from, or
    says with `none_up` how to get one.
    """
    if run_id is not None:
        (run,) = named(run_id, runs)
        return run
    if not runs:
        raise UsageError(f"no {kind} is up", hint=none_up)
    own, foreign = by_checkout(runs)
    if not own:
        choice = "; ".join(f"--run-id {run.run_id} is that of {checkout_text(run)}" for run in foreign)
        raise UsageError(f"no {kind} of this checkout is up", hint=f"{none_up}; {choice}" if none_up else choice)
    if len(own) > 1:
        up_now = ", ".join(run.run_id for run in own)
        raise UsageError(
            f"{counted(len(own), kind)} of this checkout are up: {up_now}",
            hint=f"--run-id {own[-1].run_id} chooses one",
        )
    return own[0]


def by_checkout(runs: Iterable[RunState]) -> tuple[list[RunState], list[RunState]]:
    """The runs that this checkout started, and the others."""
    own: list[RunState] = []
    foreign: list[RunState] = []
    for run in runs:
        (own if run.checkout == CHECKOUT else foreign).append(run)
    return own, foreign


def checkout_text(run: RunState) -> str:
    """The checkout that started the run."""
    return str(run.checkout or "an earlier version of the kit")


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


def named(run_id: str | None, runs: Sequence[RunState]) -> list[RunState]:
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
