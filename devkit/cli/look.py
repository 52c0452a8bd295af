"""`devkit topics | tail | lag | deferred`: what is in the topics of a stack that is up, and how far its pipeline is."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devkit.cli.chosen_stack import (
    KAFKA,
    OBJECT_STORE,
    SPARQL_QUERY,
    SPARQL_UPDATE,
    address_of,
    run_id_option,
    running_stack,
)
from devkit.cli.stack_report import naming_faults, report_faults
from devkit.errors import UsageError
from devkit.guardian.run_state import LOGS, RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from devkit.debug.pipeline_place import PipelinePlace
    from devkit.debug.program_lag import PartitionLag, ProgramLag


@click.command(short_help="List the topics with their partitions, records and size.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@run_id_option
def topics(run_id: str | None, *, as_json: bool) -> None:
    """List the topics: partitions, records, bytes on the broker's disk, cleanup policy, limit on a record batch."""
    from devkit.debug.topic_info import topics_at

    run = running_stack(run_id)
    with naming_faults(run, "the topics cannot be read", "kafka"):
        infos = topics_at(address_of(run, KAFKA))
    if as_json:
        click.echo(json.dumps([vars(topic) for topic in infos], indent=2))
        return
    width = max((len(topic.name) for topic in infos), default=5)
    row = f"{{:<{width}}} {{:>10}} {{:>9}} {{:>13}}  {{:<8}} {{:>17}}".format
    click.echo(row("topic", "partitions", "records", "bytes", "cleanup", "max.message.bytes"))
    for topic in infos:
        stored = "?" if topic.stored_bytes is None else f"{topic.stored_bytes:,}"
        limit = f"{topic.max_message_bytes:,}"
        click.echo(row(topic.name, topic.partitions, f"{topic.records:,}", stored, topic.cleanup_policy, limit))


@click.command(short_help="Print the last records of a topic.")
@click.argument("topic")
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of records from the end of the topic.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on with new records until Ctrl-C.")
@click.option("--full", is_flag=True, help="Print whole values. Default: their beginning.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@run_id_option
def tail(topic: str, count: int, run_id: str | None, *, follow: bool, full: bool, as_json: bool) -> None:
    """Print the last records of TOPIC: position, time, key, size, headers, value.

    TOPIC is a name, or one of source, output, error and deferred: the topics of the pipeline. With the updater it may
    be fetch-failure too.
    """
    from devkit.debug.record_text import json_object, plain_line
    from devkit.debug.tail import TopicTail
    from devkit.stack.topic_reader import TopicRecord

    run = running_stack(run_id)

    def say(record: TopicRecord) -> None:
        as_text = json.dumps(json_object(record, whole=full)) if as_json else plain_line(record, whole=full)
        click.echo(as_text)

    with (
        naming_faults(run, f"topic {topic} cannot be read", "kafka"),
        TopicTail(address_of(run, KAFKA), _topic_called(topic, run)) as end,
    ):
        for record in end.last(count):
            say(record)
        if follow:
            with contextlib.suppress(KeyboardInterrupt):  # the way to end it; the stack stays up
                for record in end.following():
                    say(record)


@click.command(short_help="Print how far the pipeline is behind.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@run_id_option
def lag(run_id: str | None, *, as_json: bool) -> None:
    """Print the number of source events that the pipeline has not committed, and of those that it has deferred. With
    the updater, also the number of events that are not decided yet, canaries among them, and of records that are not in
    the triple store yet.
    """
    from devkit.debug.pipeline_place import find_place_before

    run = running_stack(run_id)
    place, before = _place_of(run), find_place_before(_logs_of(run))
    decided = None if before is None else _lag_at(before, run)
    program_lag = _lag_at(place, run)
    applied = _lag_of_apply(run)
    report_faults(run, err=True)
    if as_json:
        counts = {"lag": program_lag.total, "deferred": program_lag.deferred}
        of_decide = {} if decided is None else {"decide": _described(decided) | {"lag": decided.total}}
        of_apply = {} if applied is None else {"apply": vars(applied[1]) | {"lag": applied[1].lag}}
        click.echo(json.dumps({**_described(program_lag), **counts, **of_decide, **of_apply}, indent=2))
        return
    if before is not None and decided is not None:
        _print_lag(f"{before.config.job} ({before.file})", decided.partitions, topics=decided.topics)
    for topic in program_lag.topics:
        partitions = [partition for partition in program_lag.partitions if partition.topic == topic]
        _print_lag(f"{topic} ({place.file})", partitions)
    if applied is not None:
        _print_lag(f"{applied[1].topic} ({applied[0]})", [applied[1]])
    of_decide_text = "" if decided is None else f"to decide {decided.total}, "
    deferred_text = "never: it is off" if program_lag.deferred is None else program_lag.deferred
    of_apply_text = "" if applied is None else f", to apply {applied[1].lag}"
    click.echo(f"{of_decide_text}lag {program_lag.total}, deferred {deferred_text}{of_apply_text}")


def _lag_at(place: "PipelinePlace", run: RunState) -> "ProgramLag":
    from devkit.debug.program_lag import lag_of

    checkpoint = place.checkpoint(address_of(run, OBJECT_STORE), os.environ)
    with naming_faults(run, "the lag cannot be read", "kafka", "object-store"):
        return lag_of(place.config, checkpoint, bootstrap=address_of(run, KAFKA), now_ms=time.time_ns() // 1_000_000)


def _described(lag: "ProgramLag") -> dict[str, object]:
    partitions = [vars(partition) | {"lag": partition.lag} for partition in lag.partitions]
    return {"topics": lag.topics, "partitions": partitions}


def _print_lag(heading: str, partitions: "Sequence[PartitionLag]", *, topics: "Sequence[str]" = ()) -> None:
    """Rows of a program, which name their topics where there are several `topics`."""
    width = max([9, *(len(topic) + 2 for topic in topics)])
    row = f"{{:>{width}}} {{:>10}} {{:>10}} {{:>8}}  {{}}".format
    click.echo(heading)
    click.echo(row("partition", "committed", "end", "lag", "oldest waits"))
    for partition in partitions:
        place = f"{partition.topic}/{partition.partition}" if topics else partition.partition
        committed = "none" if partition.committed is None else partition.committed
        behind = "" if partition.behind_s is None else f"{partition.behind_s:.1f} s"
        click.echo(row(place, committed, partition.end, partition.lag, behind).rstrip())


def _lag_of_apply(run: RunState) -> "tuple[Path, PartitionLag] | None":
    """The configuration of `apply` on a stack that has it, and how far it is behind. Raises StackError."""
    from devkit.debug.apply_lag import apply_config, lag_of_apply
    from devkit.stack.addresses import LOGIN_VARIABLES, store_login
    from devkit.stack.parts.triple_store import TripleStore

    config = apply_config(Path(run.addresses[LOGS])) if LOGS in run.addresses else None
    if config is None:
        return None
    query, update = address_of(run, SPARQL_QUERY), address_of(run, SPARQL_UPDATE)
    with naming_faults(run, "the lag cannot be read", "kafka", "triple-store"):
        login = store_login((os.environ.get(LOGIN_VARIABLES[0]), os.environ.get(LOGIN_VARIABLES[1])))
        store = TripleStore(query, update, query, update, login)
        lag = lag_of_apply(config, store, bootstrap=address_of(run, KAFKA))
    return config, lag


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    short_help="List, show, retry, drop or move the pipeline's deferred events.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[list | show POSITION | retry … | drop …]")
@run_id_option
def deferred(arguments: tuple[str, ...], run_id: str | None) -> None:
    """List, show, retry, drop or move the deferred events of the pipeline that runs.

    This is `python -m pipeline deferred` with the configuration of that pipeline. Write --run-id before the subcommand.
    """
    asks_for_help = not arguments or "--help" in arguments
    options = [] if asks_for_help else ["--config", str(_place_of(running_stack(run_id)).file)]
    command = [sys.executable, "-m", "pipeline", "deferred", *arguments, *options]
    sys.exit(subprocess.run(command, check=False).returncode)


def _place_of(run: RunState) -> "PipelinePlace":
    from devkit.debug.pipeline_place import find_place

    return find_place(_logs_of(run))


def _logs_of(run: RunState) -> Path | None:
    return Path(run.addresses[LOGS]) if LOGS in run.addresses else None


def _topic_called(name: str, run: RunState) -> str:
    """A topic's name from what a person calls it."""
    with contextlib.suppress(UsageError):
        return _place_of(run).topics().get(name, name)
    return name
