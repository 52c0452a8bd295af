"""The records of the ledger's topic: what is written there and what is read back.

    key                              value            means
    <topic>/<partition>/<offset>     source's bytes   an entry; all else is in headers
    <topic>/<partition>/<offset>     null             a tombstone: the event is resolved
    epoch/<n>/<process>              empty            from here on in this partition, records of epochs below n are void
    command/<id>                     empty            an operator's command for one position; null when it is done

A topic's name has no slash, so a position has exactly one key. Every record but a command carries the epoch of its
driver; one of the main lane also its batch and its task, as records of a task attempt that Spark gave up are void. The
key of a marker is its process's own: with a shared key, compaction could keep only a late marker of a process that
ended as it started, behind records that it makes void.

An earlier version of the job ignores a header that it does not know, and refuses such a kind. So an entry that stands
for several events has a kind of its own: `stuck_of_several` or `waiting_of_several`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, get_args
from uuid import UUID

import orjson
from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from located_config.redaction import redacted_text
from pipeline.deferral.entry import Cause, Entry, Kind
from pipeline.errors import PipelineError
from pipeline.records.record import Headers, Position, Record
from pipeline.records.size import serialized_size

_BY_TOPIC = TypeAdapter(dict[str, dict[NonNegativeInt, list[NonNegativeInt]]])


def counted_text(positions: Iterable[Position]) -> bytes:
    """The events that a deferred one stands for, by topic and partition as Spark writes offsets:
    `{"mediawiki.page_change.v1": {"0": [17, 19]}}`. They are committed, and no record of the ledger has their position
    as its key. In the order of the positions, where those of a partition follow each other, and partitions of a topic.
    """
    by_topic: dict[str, dict[str, list[int]]] = {}
    for position in positions:
        by_topic.setdefault(position.topic, {}).setdefault(str(position.partition), []).append(position.offset)
    return orjson.dumps(by_topic)


def counted_in(text: bytes) -> tuple[Position, ...]:
    """The positions that `counted_text` was given. Raises ValueError for any other text."""
    try:
        offsets_by_topic = _BY_TOPIC.validate_json(text)
    except ValidationError as error:
        raise ValueError(f"header counted is {text[:80]!r}, no offsets by topic and partition") from error
    return tuple(
        Position(topic, partition, offset)
        for topic, partitions in offsets_by_topic.items()
        for partition, offsets in partitions.items()
        for offset in offsets
    )


Action = Literal["retry", "drop"]
WireHeaders = Iterable[tuple[str, bytes | None]]

MAX_REASON_BYTES = 1000
TOO_LARGE = "the source record is too large to be deferred"

_SOURCE_HEADER = "source-header/"
_SEVERAL: Final = "_of_several"
_POSITION = re.compile(rb"([^/]+)/(0|[1-9][0-9]{0,9})/([0-9]{19})")
_EPOCH = re.compile(rb"epoch/(0|[1-9][0-9]{0,17})(?:/[0-9a-f]{32})?")
_COMMAND = re.compile(rb"command/([^/]+)")
_WHOLE = re.compile(rb"-?[0-9]{1,19}")


class UnreadableRecordError(PipelineError):
    """A record of the ledger's topic that this job did not write; to go on without it could lose an event. A restart
    would only find it again.
    """

    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a record in the ledger's topic."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class EntryItem:
    """An entry as written under `epoch`, by the main lane's `batch` or, when that is None, by the driver. `task` is the
    attempt of the batch's task, None in what an earlier version wrote.
    """

    place: Place
    epoch: int
    entry: Entry
    batch: int | None
    task: int | None = None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The event at `position` is resolved."""

    place: Place
    epoch: int
    position: Position


@dataclass(frozen=True, slots=True)
class EpochMarker:
    """A driver has taken the ledger over: what an older epoch writes behind it is void."""

    place: Place
    epoch: int


@dataclass(frozen=True, slots=True)
class Command:
    """An operator's command for the entry at `position`; `id` is unique, and the operator's."""

    place: Place
    id: str
    action: Action
    position: Position


@dataclass(frozen=True, slots=True)
class CommandDone:
    """The command `id` is carried out, and not to be repeated."""

    place: Place
    epoch: int
    id: str


Item = EntryItem | Tombstone | EpochMarker | Command | CommandDone


@dataclass(frozen=True, slots=True)
class NullRecord:
    """A tombstone for the producer; its headers still name the writer."""

    topic: str
    key: bytes
    headers: Headers
    value: None = None


def key_of(position: Position) -> bytes:
    """The key of a position's entry: `topic/partition/offset`, the offset with 19 digits."""
    return f"{position.topic}/{position.partition}/{position.offset:019d}".encode()


def to_record(entry: Entry, *, topic: str, epoch: int, batch: int | None = None, task: int | None = None) -> Record:
    """The record of an entry for the ledger's `topic`; `batch` is the micro-batch whose main lane writes it, and `task`
    the attempt of its task.
    """
    # Whole characters, however the text is cut: half of one could not be read back.
    reason = redacted_text(entry.reason).encode(errors="replace")[:MAX_REASON_BYTES].decode(errors="ignore").encode()
    headers: list[tuple[str, bytes]] = [
        ("epoch", _digits(epoch)),
        ("kind", (entry.kind + _SEVERAL if len(entry.counted or ()) > 1 else entry.kind).encode()),
        ("attempt", _digits(entry.attempt)),
        ("not-before-ms", _digits(entry.not_before_ms)),
        ("appended-us", _digits(entry.appended_us)),
        ("reason", reason),
    ]
    if entry.key is not None:
        headers.append(("source-key", entry.key))
    if entry.value is None:
        headers.append(("null-value", b""))
    if entry.dropped:
        headers.append(("dropped", b""))
    if entry.cause is not None:
        headers.append(("cause", entry.cause.encode()))
    if entry.wiki_id is not None:
        headers.append(("wiki", entry.wiki_id.encode()))
    if entry.counted is not None:
        headers.append(("counted", counted_text(entry.counted)))
    headers += [(f"{_SOURCE_HEADER}{name}", content) for name, content in entry.headers]
    if batch is not None:
        headers.append(("batch", _digits(batch)))
    if task is not None:
        headers.append(("task", _digits(task)))
    return Record(topic, key_of(entry.position), entry.value or b"", tuple(headers))


def bounded_record(
    entry: Entry, *, topic: str, epoch: int, limit_bytes: int, batch: int | None = None, task: int | None = None
) -> Record:
    """As `to_record`; an entry whose record would be over the producer's limit goes without its reason and its wiki,
    and one that is too large even so gives up its value and is dropped.

    So it keeps its turn in the page, and becomes an error event then: that is of the one event, whatever it stands for.
    What is written of a later try is longer than before by what is said of it alone, and no reason to give up an event.
    """
    for shortened in (entry, replace(entry, reason=""), replace(entry, reason="", wiki_id=None)):
        record = to_record(shortened, topic=topic, epoch=epoch, batch=batch, task=task)
        if serialized_size(record.key, record.value, record.headers) <= limit_bytes:
            return record
    slim = replace(entry, value=None, dropped=True, reason=TOO_LARGE, cause="too_large", counted=None)
    return to_record(slim, topic=topic, epoch=epoch, batch=batch, task=task)


def entry_in(record: Record) -> Entry:
    """The entry of a record that `to_record` made, as it is read back."""
    return _entry(position_of(record.key or b""), record.value, _Fields(record.headers), Place(0, 0)).entry


def tombstone(position: Position, *, topic: str, epoch: int) -> NullRecord:
    """The record that removes the entry of `position` from the ledger's `topic`."""
    return NullRecord(topic, key_of(position), (("epoch", _digits(epoch)),))


def epoch_marker(epoch: int, *, topic: str, process: UUID) -> Record:
    """Goes to every partition of the topic, by partition and not by key. `process` is that of one start."""
    return Record(topic, f"epoch/{epoch}/{process.hex}".encode(), b"", ())


def command_record(command_id: str, action: Action, position: Position, *, topic: str) -> Record:
    """An operator's command; `command_id` has no slash and is used once."""
    key = f"command/{command_id}".encode()
    if not _COMMAND.fullmatch(key):
        raise ValueError(f"command id {command_id!r} is empty or has a slash")
    return Record(topic, key, b"", (("action", action.encode()), ("position", key_of(position))))


def command_done(command_id: str, *, topic: str, epoch: int) -> NullRecord:
    """The record that removes a command from the ledger's `topic`."""
    return NullRecord(topic, f"command/{command_id}".encode(), (("epoch", _digits(epoch)),))


def parse(key: bytes | None, value: bytes | None, headers: WireHeaders, *, partition: int, offset: int) -> Item | None:
    """What a record of the ledger's topic says; None for an epoch marker that was erased, which says nothing.

    Raises UnreadableRecordError, which names the record's place and what is wrong with it.
    """
    try:
        return _item(key, value, _Fields(headers), Place(partition, offset))
    except ValueError as error:
        raise UnreadableRecordError(
            f"record {offset} in partition {partition} of the deferral topic cannot be read: {error}",
            hint="only this job may write to deferral.topic: another program did, or a later version of this one. "
            "That one has to run until nothing is deferred, and its `deferred move` then makes a topic for this one",
        ) from error


def position_of(key: bytes) -> Position:
    """The position in a key. Raises ValueError for any other key."""
    match = _POSITION.fullmatch(key)
    if match is None:
        raise ValueError(f"key {_shown(key)} is no position, epoch or command")
    return Position(match[1].decode(), int(match[2]), int(match[3]))


def _item(key: bytes | None, value: bytes | None, fields: "_Fields", place: Place) -> Item | None:
    if key is None:
        raise ValueError("it has no key")
    if match := _EPOCH.fullmatch(key):
        return None if value is None else EpochMarker(place, int(match[1]))
    if match := _COMMAND.fullmatch(key):
        return _command(match[1].decode(), value, fields, place)
    position = position_of(key)
    if value is None:
        return Tombstone(place, fields.number("epoch"), position)
    return _entry(position, value, fields, place)


def _command(command_id: str, value: bytes | None, fields: "_Fields", place: Place) -> Command | CommandDone:
    if value is None:
        return CommandDone(place, fields.number("epoch"), command_id)
    action = fields.one_of("action", "retry", "drop")
    return Command(place, command_id, _ACTIONS[action], position_of(fields.get("position")))


def _entry(position: Position, value: bytes, fields: "_Fields", place: Place) -> EntryItem:
    entry = Entry(
        position=position,
        key=fields.get("source-key") if "source-key" in fields else None,
        value=None if "null-value" in fields else value,
        appended_us=fields.number("appended-us"),
        kind=_KINDS[fields.one_of("kind", *_KINDS)],
        attempt=fields.number("attempt"),
        not_before_ms=fields.number("not-before-ms"),
        reason=fields.get("reason").decode(),
        dropped="dropped" in fields,
        cause=_CAUSES[fields.one_of("cause", *_CAUSES)] if "cause" in fields else None,
        wiki_id=fields.get("wiki").decode() if "wiki" in fields else None,
        headers=fields.below(_SOURCE_HEADER),
        counted=counted_in(fields.get("counted")) if "counted" in fields else None,
    )
    batch = fields.number("batch") if "batch" in fields else None
    task = fields.number("task") if "task" in fields else None
    return EntryItem(place, fields.number("epoch"), entry, batch, task)


_CAUSES: dict[str, Cause] = {cause: cause for cause in get_args(Cause)}
_KINDS: dict[str, Kind] = {f"{kind}{several}": kind for several in ("", _SEVERAL) for kind in get_args(Kind)}
_ACTIONS: dict[str, Action] = {action: action for action in get_args(Action)}


class _Fields:
    """Headers by name; each at most once. Its errors are ValueErrors that name the header."""

    def __init__(self, headers: WireHeaders) -> None:
        self._fields: dict[str, bytes] = {}
        for name, content in headers:
            if name in self._fields:
                raise ValueError(f"header {name} stands twice")
            self._fields[name] = content or b""

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def get(self, name: str) -> bytes:
        if name not in self._fields:
            raise ValueError(f"header {name} is missing")
        return self._fields[name]

    def below(self, prefix: str) -> Headers:
        """The headers with this prefix, without it, in their order."""
        fields = self._fields.items()
        return tuple((name.removeprefix(prefix), content) for name, content in fields if name.startswith(prefix))

    def number(self, name: str) -> int:
        content = self.get(name)
        if not _WHOLE.fullmatch(content):
            raise ValueError(f"header {name} is {_shown(content)}, no whole number")
        return int(content)

    def one_of(self, name: str, *allowed: str) -> str:
        text = self.get(name).decode(errors="replace")
        if text not in allowed:
            raise ValueError(f"header {name} is {text[:40]!r}, not {' or '.join(allowed)}")
        return text


def _digits(number: int) -> bytes:
    return str(number).encode()


def _shown(content: bytes) -> str:
    return repr(content[:80])
