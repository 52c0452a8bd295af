"""`deferred list | show | retry | drop | move`: the ledger of a job that runs or has stopped.

Reading folds the ledger's topic. A wish (`retry`, `drop`) is a record of the same topic: a job that runs carries it
out within a second or at the end of its batch, one that has stopped when it starts again. Nothing is taken out of the
ledger from here, so an event that is dropped still leaves in its page's order, as an error event.
"""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Entry, order, rests
from pipeline.deferral.fold import fold
from pipeline.deferral.ledger_start import LedgerStart
from pipeline.deferral.topic import LedgerTopic, items_of
from pipeline.deferral.wire import (
    Action,
    Command,
    CommandDone,
    EpochMarker,
    Item,
    command_record,
    position_of,
)
from pipeline.errors import RefusedError
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.kafka.cluster import sink_brokers
from pipeline.records.page_change import InvalidEventError
from pipeline.records.page_change import parse as parse_event
from pipeline.records.record import Position

_LOOK_S = 0.2
_EXCERPT = 2000
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Wish:
    """`known`: the ledger has the position. `done`: a running job has carried the wish out."""

    position: Position
    known: bool
    done: bool


def parse_position(text: str) -> Position:
    """`topic/partition/offset`, as `list` prints it. Raises RefusedError."""
    topic, _, numbers = text.partition("/")
    partition, _, offset = numbers.partition("/")
    try:
        # The key's own form, where the offset has all its zeros.
        return position_of(f"{topic}/{partition}/{offset and offset.zfill(19)}".encode())
    except ValueError:
        raise RefusedError(
            f"{text!r} is no position", hint="write topic/partition/offset as `deferred list` prints it"
        ) from None


@contextmanager
def opened(config: PipelineConfig, *, new: str | None = None) -> Iterator[LedgerTopic]:
    """The ledger's topic of a job, which is not made when it is missing; or a `new` one for it, which is.

    Raises PipelineError, RefusedError for a job that never has one.
    """
    if not JOB_DEFAULTS[config.job].defers and config.deferral.policy == "none":
        raise RefusedError(f"{config.job} defers nothing, so it has no ledger")
    topic = LedgerTopic(sink_brokers(config), new or config.deferral.topic, config.sink.max_request_size)
    topic.open(LedgerStart(missing="make") if new else None)
    try:
        yield topic
    finally:
        topic.close()


def entries_in(topic: LedgerTopic) -> list[Entry]:
    """All that is deferred, in the order of the source."""
    return sorted(
        fold(items_of(topic.read(from_beginning=True))).deferred.values(), key=lambda entry: order(entry.position)
    )


def wish(
    topic: LedgerTopic,
    action: Action,
    positions: Iterable[Position],
    *,
    wait_s: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Wish]:
    """Record a wish for each position that is deferred, and wait at most `wait_s` seconds for a running job."""
    unique = list(dict.fromkeys(positions))
    items = list(items_of(topic.read(from_beginning=True)))
    deferred = fold(items).deferred.keys()
    ids = {position: str(uuid.uuid4()) for position in unique if position in deferred}
    topic.write([command_record(ids[p], action, p, topic=topic.topic) for p in ids])
    # What says whether a command is done; without the entries, which may be many megabytes.
    notes: list[Item] = [item for item in items if isinstance(item, EpochMarker)]
    until = clock() + wait_s
    while True:
        notes += [item for item in items_of(topic.read()) if isinstance(item, EpochMarker | Command | CommandDone)]
        pending = {command.id for command in fold(notes).commands} & set(ids.values())
        if not pending or clock() >= until:
            return [Wish(p, known=p in ids, done=p in ids and ids[p] not in pending) for p in unique]
        sleep(_LOOK_S)


def lines(entries: Iterable[Entry], now_ms: int, longest_rest_ms: int) -> Iterator[str]:
    """A table, with a heading; no entry rests for more than `longest_rest_ms`."""
    row = "{:<48} {:<8} {:>5} {:>10} {:>9}  {}".format
    yield row("position", "kind", "tries", "due in", "bytes", "reason")
    for entry in entries:
        resting = rests(entry.not_before_ms, now_ms, longest_rest_ms)
        due = f"{(entry.not_before_ms - now_ms) / 1000:.0f} s" if resting else "now"
        kind = "dropped" if entry.dropped else entry.kind
        size = len(entry.value) if entry.value is not None else 0
        yield row(str(entry.position), kind, entry.attempt, due, size, entry.reason[:200])


def details(entry: Entry) -> Iterator[str]:
    """All there is to know of one entry, and the beginning of its event."""
    yield f"position    {entry.position}"
    yield f"page key    {entry.key!r}"
    yield f"kind        {'dropped, ' if entry.dropped else ''}{entry.kind}"
    yield f"tries       {entry.attempt}"
    yield f"not before  {_moment(entry.not_before_ms) if entry.not_before_ms > 0 else 'at once'}"
    yield f"appended    {_moment(entry.appended_us // 1000)}"
    yield f"reason      {entry.reason}"
    if entry.counted is not None:
        names = ", ".join(map(str, entry.counted[:_NAMED]))
        more_count = len(entry.counted) - _NAMED
        yield f"stands for  {names}{f', and {more_count} more events' if more_count > 0 else ''}"
    if entry.value is None:
        return
    try:
        event = parse_event(entry.value, str(entry.position))
        yield f"event       {event.kind} of revision {event.rev_id} on {event.wiki_id}, id {event.event_id}"
    except InvalidEventError as error:
        yield f"event       cannot be read: {error}"
    yield f"value       {len(entry.value)} bytes: {entry.value[:_EXCERPT].decode(errors='replace')}"


def _moment(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        return f"{milliseconds} ms since the epoch"
