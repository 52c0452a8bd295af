"""`python -m pipeline deferred list | show | retry | drop | move --config FILE`: exit 0, 1 Kafka failed, 2 refused."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from located_config.count import counted
from pipeline.config.config_file import load_config
from pipeline.deferral.topic import LedgerTopic
from pipeline.deferral.topic_move import move as move_ledger
from pipeline.deferral.wire import Action
from pipeline.errors import RefusedError
from pipeline.ops.command_group import CommandGroup
from pipeline.ops.deferred import details, entries_in, lines, opened, parse_position, wish
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.options import Number

_CONFIG = click.option(
    "--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file."
)
_WAIT = click.option(
    "--wait",
    "wait_s",
    type=Number(min=0),
    default=10,
    show_default=True,
    help="Seconds to wait until a running job has carried the command out.",
)


@click.group(cls=CommandGroup, short_help="List, show, retry, drop or move the deferred events of a job.")
def deferred() -> None:
    """Work with the deferred events of a job: list, show, retry, drop, move."""


@deferred.command("list")
@_CONFIG
def list_(config_file: Path) -> None:
    """List all deferred events, in the order of the source."""
    with exit_codes():
        config = load_config(config_file)
        with opened(config) as topic:
            entries = entries_in(topic)
        longest_rest_ms = round(1000 * config.deferral.slow_lane.backoff_cap.total_seconds())
        for line in (
            lines(entries, time.time_ns() // 1_000_000, longest_rest_ms) if entries else ["nothing is deferred"]
        ):
            click.echo(line)


@deferred.command(short_help="Show one deferred event.")
@click.argument("position")
@_CONFIG
def show(position: str, config_file: Path) -> None:
    """Show one deferred event: the reason, the number of tries, and its content."""
    with exit_codes(), _ledger(config_file) as topic:
        parsed = parse_position(position)
        entry = next((entry for entry in entries_in(topic) if entry.position == parsed), None)
        if entry is None:
            raise RefusedError(f"{position} is not deferred", hint="`deferred list` shows what is")
        for line in details(entry):
            click.echo(line)


@deferred.command()
@click.argument("positions", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Retry all deferred events.")
@_CONFIG
@_WAIT
def retry(positions: tuple[str, ...], config_file: Path, wait_s: float, *, everything: bool) -> None:
    """Try deferred events again now, without waiting for their backoff."""
    with exit_codes(), _ledger(config_file) as topic:
        _wish(topic, "retry", positions, wait_s, is_all=everything)


@deferred.command(short_help="Give up deferred events; each becomes an error event.")
@click.argument("positions", nargs=-1, required=True)
@_CONFIG
@_WAIT
def drop(positions: tuple[str, ...], config_file: Path, wait_s: float) -> None:
    """Give up deferred events: each becomes an error event when its page is next processed."""
    with exit_codes(), _ledger(config_file) as topic:
        _wish(topic, "drop", positions, wait_s, is_all=False)


@deferred.command(short_help="Move all deferred events of a stopped job into a new topic.")
@click.argument("topic")
@_CONFIG
def move(topic: str, config_file: Path) -> None:
    """Move all deferred events into TOPIC, which is made; for a deferral.topic that was given more partitions.

    Stop the job first: one that still runs is ended with exit code 2. Then set deferral.topic to TOPIC and start the
    job with --adopt-ledger. The old topic keeps its records; start no job with it any more.
    """
    with exit_codes():
        config = load_config(config_file)
        old = config.deferral.topic
        if topic == old:
            raise RefusedError(f"{topic} is deferral.topic already", hint="name a topic that is not there")
        with opened(config) as old_topic, opened(config, new=topic) as new_topic:
            moved = move_ledger(old_topic, new_topic)
        click.echo(f"{counted(len(moved.entries), 'deferred event')} moved from {old} to {topic}")
        click.echo(
            f"next: set deferral.topic to {topic}, and start the job with --adopt-ledger; never again with {old}"
        )


def _wish(topic: LedgerTopic, action: Action, texts: tuple[str, ...], wait_s: float, *, is_all: bool) -> None:
    if is_all == bool(texts):
        raise RefusedError(
            "neither positions nor --all" if not texts else "positions and --all", hint="give one of them"
        )
    positions = [parse_position(text) for text in texts] or [entry.position for entry in entries_in(topic)]
    if not positions:
        click.echo("nothing is deferred")
    outcomes = wish(topic, action, positions, wait_s=wait_s)
    unknown = [outcome for outcome in outcomes if not outcome.known]
    for outcome in outcomes:
        if outcome.known:
            state = "carried out" if outcome.done else "recorded; the job carries it out when it runs"
            click.echo(f"{outcome.position}: {state}")
        elif not is_all:
            click.echo(f"{outcome.position}: is not deferred")
    if is_all and unknown:
        # Resolved by the job between the two reads of the ledger, and not named by the command.
        click.echo(f"{len(unknown)} resolved by the job meanwhile")
    elif unknown:
        sys.exit(RefusedError.exit_code)


@contextmanager
def _ledger(config_file: Path) -> Iterator[LedgerTopic]:
    with opened(load_config(config_file)) as topic:
        yield topic
