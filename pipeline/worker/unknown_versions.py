"""How many events of a batch name a major version of their schema that the job cannot read.

A few are error events, as all that cannot be used. Many mean that the producers have moved on: a job that goes on makes
final errors of the whole stream. So a batch's events are looked at before anything of it is written. The job parses one
event of each schema that is named, and each that names none: which version it can read is a matter of topic and name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import orjson

from pipeline.errors import UnreadableSourceError
from pipeline.jobs.message import SourceMessage
from pipeline.records.page_change import InvalidEventError

LEAST_EVENTS = 100
"""A smaller batch says nothing about the stream."""
MOST_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class VersionsSeen:
    """The versions that one task read: the number of its events, the number of unreadable ones, a schema of these; and
    by topic and name the schemas that it can read.
    """

    events: int
    unknown: int = 0
    example: str = ""
    readable: frozenset[tuple[str, str]] = field(default=frozenset())


def versions_of(
    messages: Iterable[SourceMessage], unreadable_version: Callable[[SourceMessage], str | None]
) -> VersionsSeen:
    """What is among the messages; `unreadable_version` is the job's, see `Enrichment`."""
    events, unknown, example = 0, 0, ""
    known: dict[tuple[str, str], str | None] = {}
    for message in messages:
        events += 1
        name = _schema(message.value)
        key = (message.position.topic, name or "")
        try:
            version = known[key] if key in known else unreadable_version(message)
        except InvalidEventError:
            continue
        if name is not None:
            known[key] = version
        if version is not None:
            unknown += 1
            example = version
    return VersionsSeen(events, unknown, example, frozenset(key for key, version in known.items() if version is None))


def are_few(events: int, unknown: int) -> bool:
    """Whether this number of events is no reason to stop, or the batch is too small to tell."""
    return events < LEAST_EVENTS or unknown <= events * MOST_SHARE


def require_readable(seen: Sequence[VersionsSeen], batch: int) -> None:
    """Raises UnreadableSourceError when more than a few events of a batch name another major version."""
    events, unknown = sum(task.events for task in seen), sum(task.unknown for task in seen)
    if are_few(events, unknown):
        return
    example = next(task.example for task in seen if task.unknown)
    raise UnreadableSourceError(
        f"{unknown} of {events} events of batch {batch} are of a major version that this job cannot read: {example}",
        hint="nothing of the batch was written: run a version of the job that reads it, which begins with this batch",
    )


def _schema(value: bytes | None) -> str | None:
    try:
        document = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        return None
    schema = document.get("$schema") if isinstance(document, dict) else None
    return schema if isinstance(schema, str) else None
