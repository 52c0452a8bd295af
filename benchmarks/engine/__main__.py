"""`python -m benchmarks.engine NAME`: one bench; results go to `benchmarks/results/NAME.json`."""

import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from benchmarks.engine.aligned_source import aligned_source
from benchmarks.engine.asyncio_peer import AsyncioPeer
from benchmarks.engine.backfill import BARE, backfill
from benchmarks.engine.contestant import Contestant
from benchmarks.engine.entity_state import entity_state
from benchmarks.engine.guard import describe, guard, has_grown, last_alike, read_lines, record
from benchmarks.engine.live import live
from benchmarks.engine.pyflink_peer import AS_IT_COMES, ASYNC, SYNC
from benchmarks.engine.pyflink_peer import REFERENCE as PYFLINK_REFERENCE
from benchmarks.engine.slow_pages import SETTINGS as SLOW_SETTINGS
from benchmarks.engine.slow_pages import slow_pages
from benchmarks.engine.spark_engine import SETTINGS, Engine, read_settings
from benchmarks.engine.updater import updater
from benchmarks.engine.updater_live import FAST, LiveSizes, updater_live
from benchmarks.engine.version_look import version_look
from benchmarks.engine.workload import Coding, Histories, Workload
from benchmarks.growth.bench import growth
from benchmarks.memory.bench import memory
from devkit.errors import DevkitError, UsageError

F = TypeVar("F", bound=Callable[..., Any])
_EVENTS = click.option("--events", default=20_000, show_default=True, help="Number of events in the source.")
_ROUNDS = click.option(
    "--rounds", default=3, show_default=True, help="Number of rounds; in each, every contestant runs once."
)
_ONLY = "Names of the contestants, with commas between them."
_PROFILE = click.option(
    "--profile", is_flag=True, help="Measure the processor seconds of each process's threads as well, by name."
)


def _name(default: str) -> Callable[[F], F]:
    return click.option(
        "--name", default=default, show_default=True, help="Name of the result, benchmarks/results/NAME.json."
    )


def _settings(default: Path) -> Callable[[F], F]:
    return click.option(
        "--settings",
        type=click.Path(path_type=Path),
        default=default,
        show_default=True,
        help="YAML file with the settings of the engine.",
    )


def _directory() -> Path:
    return Path(tempfile.mkdtemp(prefix="bench-"))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure the engine beside its peers. Only guard fails on a figure.

    Without a command, run the pytest benchmarks of the kit; options go to pytest: -k NAME, -m "not slow".
    """


main.add_command(memory)
main.add_command(growth)


@main.command("backfill")
@_EVENTS
@_ROUNDS
@click.option("--only", default="bare aiohttp,bare fastest,asyncio,engine", show_default=True, help=_ONLY)
@click.option(
    "--coding",
    type=click.Choice(["gzip", "identity"]),
    default="gzip",
    show_default=True,
    help="Content coding of the answers.",
)
@click.option(
    "--first-seen",
    type=click.FloatRange(min=0, max=1, min_open=True),
    help="Share of events whose page had none before; the parent of each other one is its page's last revision. "
    "Default: each page comes again when all others had their turn, and no event continues another.",
)
@_settings(SETTINGS)
@_PROFILE
@click.option(
    "--client", default="raw", show_default=True, help="HTTP client of the asyncio program: raw, httptools or aiohttp."
)
@click.option(
    "--in-flight",
    default=128,
    show_default=True,
    help="Number of requests that each process of the asyncio program has in flight.",
)
@_name("backfill")
def backfill_(
    events: int,
    rounds: int,
    only: str,
    coding: Coding,
    first_seen: float | None,
    settings: Path,
    *,
    profile: bool,
    client: str,
    in_flight: int,
    name: str,
) -> None:
    """Process a backlog. Beside the engine: a bare client and a hand-written program."""
    bare = [part for part in _parts(only) if part in BARE]
    others = [part for part in _parts(only) if part not in BARE]
    backfill(
        _chosen(",".join(others), settings, AsyncioPeer(client=client, in_flight=in_flight)) if others else [],
        Workload(events, coding=coding)
        if first_seen is None
        else Histories(events, first_seen=first_seen, coding=coding),
        rounds=rounds,
        directory=_directory(),
        bare=bare,
        profile=profile,
        name=name,
    )


@main.command("guard")
@click.option("--events", default=12_000, show_default=True, help="Number of events in the source.")
@_ROUNDS
@click.option("--record", "is_recorded", is_flag=True, help="Append the figures to benchmarks/guard.jsonl.")
def guard_(events: int, rounds: int, *, is_recorded: bool) -> None:
    """Compare the speed with the last commit's.

    Exit code 1: the engine's share of the hand-written program's processor time grew by more than 10 %.
    """
    lines = read_lines()
    line = guard(events, rounds, _directory())
    last = last_alike(line, lines)
    if is_recorded:
        record(line)
    click.echo(describe(line, last))
    if last and has_grown(line, last):
        sys.exit(1)


@main.command("entity-state")
@click.option(
    "--entities",
    default="10000,100000,1000000",
    show_default=True,
    help="Numbers of entities, with commas between them.",
)
@_name("entity-state")
def entity_state_(entities: str, name: str) -> None:
    """Measure Spark's state by entity.

    The initial state has that many entities.
    """
    entity_state([int(count) for count in _parts(entities)], directory=_directory(), name=name)


@main.command("pyflink")
@_EVENTS
@_ROUNDS
@click.option(
    "--only",
    default="engine,pyflink async,pyflink as it comes,pyflink sync",
    show_default=True,
    help=_ONLY,
)
@_settings(SETTINGS)
@_PROFILE
@_name("pyflink")
def pyflink_(events: int, rounds: int, only: str, settings: Path, *, profile: bool, name: str) -> None:
    """Process the same backlog beside PyFlink."""
    backfill(
        _chosen(only, settings),
        Workload(events),
        rounds=rounds,
        directory=_directory(),
        bare=[],
        profile=profile,
        name=name,
        reference=PYFLINK_REFERENCE,
    )


@main.command("slow-pages")
@_EVENTS
@_ROUNDS
@click.option("--only", default="engine", show_default=True, help=_ONLY)
@click.option("--pace", default=50.0, show_default=True, help="Events a second where latencies are measured.")
@click.option("--seconds", default=60.0, show_default=True, help="Seconds for which latencies are measured.")
@_settings(SLOW_SETTINGS)
@_name("slow-pages")
def slow_pages_(events: int, rounds: int, only: str, pace: float, seconds: float, settings: Path, name: str) -> None:
    """Process pages of which some are slow. One in a hundred takes 40 s; rate and latency are those of the others."""
    slow_pages(
        _chosen(only, settings),
        Workload(events),
        rounds=rounds,
        directory=_directory(),
        per_second=pace,
        seconds=seconds,
        name=name,
    )


@main.command("live")
@_ROUNDS
@click.option("--seconds", default=60.0, show_default=True, help="Seconds for which latencies are measured.")
@click.option("--only", default="engine,engine s3a", show_default=True, help=_ONLY)
@_settings(SETTINGS)
@_name("live")
def live_(rounds: int, seconds: float, only: str, settings: Path, name: str) -> None:
    """Process live traffic, 20 events/s. What counts is the time from an event's append to that of its output."""
    live(_chosen(only, settings), rounds=rounds, seconds=seconds, directory=_directory(), name=name)


@main.command("version-look")
@_EVENTS
@_ROUNDS
@_name("version-look")
def version_look_(events: int, rounds: int, name: str) -> None:
    """Measure the look at schema versions. It is taken in the JVM, in the Python workers, and not at all."""
    version_look(Workload(events), rounds=rounds, directory=_directory(), name=name)


@main.command("updater")
@click.option(
    "--operations",
    type=click.IntRange(min=100),
    default=3_000,
    show_default=True,
    help="Number of operations in the source.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the operations and of the entities' sizes.")
@click.option(
    "--stored",
    default=1_000_000,
    show_default=True,
    help="Number of triples that the store has before the last run of apply.",
)
@_name("updater")
def updater_(operations: int, seed: int, stored: int, name: str) -> None:
    """Measure the updater. Operations go through rdf-resolve and apply together, and mutations through apply alone."""
    updater(operations, seed, stored, directory=_directory(), name=name)


@main.command("updater-live")
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=120.0,
    show_default=True,
    help="Seconds that are measured.",
)
@click.option(
    "--warm",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Seconds for which events are published before those that count.",
)
@click.option(
    "--backlog",
    type=click.IntRange(min=200),
    default=6_000,
    show_default=True,
    help="Number of events that wait when the programs start, in the last run.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the events and of the entities' sizes.")
@click.option(
    "--fast", is_flag=True, help="A trial: 15 seconds after 5, and a backlog of 500. The other sizes do not count."
)
@_name("updater-live")
def updater_live_(seconds: float, warm: float, backlog: int, seed: int, *, fast: bool, name: str) -> None:
    """Time the updater from event to store.

    Latency at 20 events/s, a sustained rate of 50/s, and a backlog.
    """
    sizes = LiveSizes(length=timedelta(seconds=seconds), warm=timedelta(seconds=warm), backlog=backlog)
    updater_live(FAST if fast else sizes, seed, directory=_directory(), name=name)


@main.command("aligned-source")
@_EVENTS
@_ROUNDS
@_name("aligned-source")
def aligned_source_(events: int, rounds: int, name: str) -> None:
    """Read a backlog in event time. Beside the aligned source: Spark's own; nothing is fetched or written."""
    aligned_source(Workload(events), rounds=rounds, directory=_directory(), name=name)


def _parts(only: str) -> list[str]:
    return [part.strip() for part in only.split(",") if part.strip()]


def _chosen(only: str, settings: Path, *instead: Contestant) -> list[Contestant]:
    """By their names; `instead` of those that are known by the same."""
    read = read_settings(settings)
    all_: list[Contestant] = [
        Engine(read),
        Engine(read, name="engine s3a", s3a=True),
        AsyncioPeer(),
        ASYNC,
        AS_IT_COMES,
        SYNC,
    ]
    known = {contestant.name: contestant for contestant in [*all_, *instead]}
    names = _parts(only)
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"--only: no contestant {unknown[0]!r}", hint=f"there are {', '.join(known)}")
    return [known[name] for name in names]


def run() -> None:
    """The command line, with errors as people read them. Does not return."""
    try:
        main()
    except DevkitError as error:
        click.echo(error.render(), err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    run()
