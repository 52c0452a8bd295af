"""`devkit capture`: the events of a real topic in a file, with names and text replaced."""

import contextlib
import os
import re
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devkit.cli.chosen_stack import KAFKA, address_of, run_id_option, running_stack
from devkit.cli.options import duration_of, size_of
from devkit.errors import UsageError
from located_config.count import counted

if TYPE_CHECKING:
    from devkit.traffic.capture.topic_window import WindowStart

_MOST_EVENTS = 200_000
_DEFAULT_EVENTS = 50_000
_DEFAULT_SIZE = "1GiB"
_TELL_EVERY_S = 30.0
_MIB = _LEAST_BYTES = 1 << 20
_ENDED = {
    "time": "ended by its time",
    "count": "ended by --max-events",
    "size": "ended by --max-bytes",
    "interrupt": "interrupted",
}


@click.command(short_help="Write the events of a topic to a file.")
@click.option(
    "--kafka",
    metavar="HOST:PORT",
    help="Address of the cluster, or several with commas. Default: that of --addresses, the variable DEVKIT_KAFKA, or "
    "the only stack of this checkout.",
)
@click.option(
    "--addresses",
    type=click.Path(path_type=Path, dir_okay=False),
    help="YAML file with the addresses of an external stack, as `scenario run` takes it; `kafka` is used.",
)
@click.option(
    "--kafka-config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Properties file of a Kafka client, for a cluster that asks for TLS or a login: security.protocol, sasl.…, "
    "ssl.… with PEM files; its bootstrap.servers are used without --kafka.",
)
@click.option("--topic", "topics", metavar="NAME", multiple=True, help="Topic to read; may be repeated.")
@click.option(
    "--for", "for_", metavar="TIME", default="10m", show_default=True, help="Length of the capture, for example 10m."
)
@click.option(
    "--from",
    "from_",
    metavar="earliest|latest|TIME",
    default="latest",
    show_default=True,
    help="Beginning of the capture: `latest` for events from now on, `earliest` or a time such as "
    "2026-11-23T02:00:00Z for events from there on.",
)
@click.option(
    "--max-events",
    type=click.IntRange(1, _MOST_EVENTS),
    default=_DEFAULT_EVENTS,
    show_default=True,
    help="End after this number of events, even before its time.",
)
@click.option(
    "--max-bytes",
    metavar="SIZE",
    default=_DEFAULT_SIZE,
    show_default=True,
    help="End at this size of the file, even before its time, for example 200MiB.",
)
@click.option(
    "--finish",
    "unfinished",
    metavar="FILE.part",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Capture nothing; complete the file of a capture that was killed.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write. Default: capture-TIME.jsonl in this directory.",
)
@click.option("--keep-text", is_flag=True, help="Leave names of users, titles, comments and all other text as it is.")
@run_id_option
def capture(
    kafka: str | None,
    addresses: Path | None,
    kafka_config: Path | None,
    topics: tuple[str, ...],
    for_: str,
    from_: str,
    max_events: int,
    max_bytes: str,
    unfinished: Path | None,
    out: Path | None,
    run_id: str | None,
    *,
    keep_text: bool,
) -> None:
    """Write the events of topics to a file, to play them with `traffic: {from: FILE}` in a scenario.

    Nothing is written to the cluster: the reader has no consumer group and commits nothing. Names of users, titles,
    comments and all other text are replaced; ids and times stay. It ends after its time, after `--max-events` or
    `--max-bytes`, or with Ctrl-C, and the file has what was read until then. Each event is written as it comes,
    to a file whose name ends with .part until it is whole.
    """
    from devkit.stack.client_settings import PLAIN, read_client_settings
    from devkit.traffic.capture.capture_writer import finish_killed
    from devkit.traffic.capture.take import CaptureOrder, take_capture

    if unfinished is not None:
        finished, count = finish_killed(unfinished)
        click.echo(f"{finished}: {counted(count, 'event')}")
        return
    if not topics:
        raise UsageError("--topic: which topic is to be read is missing", hint="write --topic NAME")
    out = out or Path(f"capture-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.jsonl")
    span = duration_of("--for", for_)
    most_bytes = size_of("--max-bytes", max_bytes)
    if not span:
        raise UsageError("--for: must be longer than 0", hint="write for example 10m")
    if most_bytes < _LEAST_BYTES:
        raise UsageError("--max-bytes: must be 1MiB or more", hint="write for example 200MiB")
    client = PLAIN if kafka_config is None else read_client_settings(kafka_config)
    bootstrap = _bootstrap(kafka, addresses, run_id, client.bootstrap)
    order = CaptureOrder(
        bootstrap, tuple(dict.fromkeys(topics)), _start(from_), span, max_events, most_bytes, keep_text, client
    )
    how = "" if client is PLAIN else f" ({client.text})"
    click.echo(
        f"reading {', '.join(order.topics)} at {bootstrap}{how} for {for_}, at most {counted(max_events, 'event')} and "
        f"{max_bytes}; Ctrl-C ends it",
        err=True,
    )
    if client.unused:
        click.echo(f"not used of {kafka_config}: {', '.join(client.unused)}", err=True)
    with _stopping() as stopped:
        captured = take_capture(order, out, stop=stopped.is_set, tell=_Telling().tell)
    click.echo(
        f"{out}: {counted(captured.events, 'event')}, {captured.bytes / _MIB:.1f} MiB, {_ENDED[captured.ended_by]}"
    )
    if captured.events == 0:
        click.echo("nothing came to the topic in that time; `--from earliest` takes what it has", err=True)
    if keep_text:
        click.echo("names and text are in it as they were: treat it like the topic itself", err=True)


class _Telling:
    """A line now and then, so that a person sees that it goes on."""

    def __init__(self) -> None:
        self._began = self._reported = datetime.now(UTC)

    def tell(self, count: int) -> None:
        now = datetime.now(UTC)
        if (now - self._reported).total_seconds() >= _TELL_EVERY_S:
            self._reported = now
            click.echo(f"{(now - self._began).seconds} s: {counted(count, 'event')}", err=True)


def _bootstrap(kafka: str | None, addresses: Path | None, run_id: str | None, of_client: str | None) -> str:
    """Raises UsageError where none of them says where the cluster is."""
    from devkit.stack.addresses import VARIABLES, read_addresses

    if len([option for option in (kafka, addresses, run_id) if option is not None]) > 1:
        raise UsageError("--kafka, --addresses and --run-id each name a cluster", hint="keep one of them")
    if addresses is not None:
        return read_addresses(addresses).kafka
    elsewhere = of_client or os.environ.get(VARIABLES["kafka"])
    if (bootstrap := kafka or (None if run_id else elsewhere)) is None:
        return address_of(running_stack(run_id), KAFKA)
    if not re.fullmatch(r"[^\s:/,]+:\d{1,5}(,[^\s:/,]+:\d{1,5})*", bootstrap):
        name = "--kafka" if kafka else "bootstrap.servers" if of_client else VARIABLES["kafka"]
        raise UsageError(f"{name}: not understood (got {bootstrap!r})", hint="write host:port, or several with commas")
    return bootstrap


def _start(text: str) -> "WindowStart":
    """Raises UsageError for what is no time."""
    if text == "latest":
        return "latest"
    if text == "earliest":
        return "earliest"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        hint = "write earliest, latest, or a time such as 2026-11-23T02:00:00Z"
        raise UsageError(f"--from: not understood (got {text!r})", hint=hint) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@contextlib.contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Set by Ctrl-C or SIGTERM, so that neither breaks off a line; a second one does."""
    stopped = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, _frame: object) -> None:
        stopped.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
