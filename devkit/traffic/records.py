"""What the generator hands on: records for Kafka, pages for the mock, and the fate each event must meet.

    Stream ── generate ──> Traffic ─┬─ records: SourceRecord ── publish ──> Manifest (offset, Expected) ──> audit
                                         └─ pages: GeneratedPage ──> the mock's table of titles

The fate is stated when the event is made (`devkit.traffic.fate`), by those who know what it was made for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict

Fate = Literal["output", "error", "filtered"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PageRef(_Model):
    """A page as an event names it: `title` is the one at that moment, with underscores."""

    wiki: str
    page_id: int
    title: str


class Expected(_Model):
    """Where an event must end, and which revisions' HTML must be in its output.

    `reason` is the filter (`canary`, `content_model`) or the error's type (`malformed_json`, `schema_violation`).
    `page` and the revisions are None when the event gives a consumer no page change to act on: canaries and errors.
    `event_id` is None when the bytes cannot be parsed. An output with neither revision passes without a fetch.
    `repeat`: an earlier event of its topic has the same `event_id`, so a program may drop one of them. `may_lapse`: it
    comes so late that it may end as a lapsed event instead. `may_end_in` is an error type in which it may end as well.
    """

    fate: Fate
    reason: str | None = None
    event_id: str | None = None
    page: PageRef | None = None
    latest_revision: int | None = None
    parent_revision: int | None = None
    repeat: bool = False
    may_lapse: bool = False
    may_end_in: str | None = None


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One Kafka record; `at` counts from the start of the traffic. `topic` None is the first source topic.

    A generator says in `at` when the event happens; when it is published is worked out from that (`all_streams`), and
    with `closes` it is behind everything else. `delay` is how much later than it happens it is published, whatever its
    stream's pauses are. `timestamp_ms` is the record's own time, None where the kit leaves it to
    Kafka. `partition` None leaves it to the key; one that the topic does not have goes round. `time_field` is the path
    of the time from which a job counts the event's age. `errors` are the types in which the event ends as an error
    instead, by arm or role.
    """

    index: int
    at: timedelta
    key: bytes
    value: bytes
    expected: Expected
    topic: str | None = None
    partition: int | None = None
    time_field: tuple[str, ...] = ("meta", "dt")
    timestamp_ms: int | None = None
    closes: bool = False
    delay: timedelta = timedelta(0)
    errors: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class GeneratedRevision:
    """`parent_id` is 0 for a page's first revision. `text` is its source, None where the mock draws it."""

    rev_id: int
    parent_id: int
    timestamp: datetime
    text: str | None = None


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """A page with all its revisions, oldest first; `title` is the one at the end of the traffic, with underscores."""

    wiki: str
    domain: str
    page_id: int
    namespace_id: int
    title: str
    content_model: str
    revisions: tuple[GeneratedRevision, ...]


@dataclass(frozen=True, slots=True)
class DumpedEntities:
    """The revision of each entity that was there when a dump read it. `begun` and `ended` are times of the traffic's
    calendar, as those of the events.
    """

    begun: datetime
    ended: datetime
    revisions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Records in order of `at`, every page they speak of, and the dump that was made meanwhile, if there was one."""

    records: tuple[SourceRecord, ...]
    pages: tuple[GeneratedPage, ...]
    dump: DumpedEntities | None = None
