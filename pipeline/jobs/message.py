"""What goes into a job, and what comes of it; the lanes know a job by this alone."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.error_event import Failure
from pipeline.records.event_id import event_id_headers, event_id_of
from pipeline.records.record import Headers, Position, Record

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message of the source topic as Spark hands it over. `appended` is the time of its record, the epoch where that
    has none (`pipeline.kafka.record_quirks`). `horizon` is the latest event time that was read before
    its batch, None where the source does not say. `headers` are those to pass on. `counted` are the events that it
    stands for, itself among them, None where that is itself alone. `decided` is one that the job's state has made
    something of: its key and value are not those of its record.
    """

    position: Position
    key: bytes | None
    value: bytes | None
    appended: datetime
    horizon: datetime | None = None
    headers: Headers = ()
    counted: tuple[Position, ...] | None = None
    decided: bool = False

    @property
    def has_time(self) -> bool:
        """Whether its record says when it happened. Without a time it is never late."""
        return self.appended > _EPOCH

    @property
    def origin(self) -> ClaimOrigin:
        """By what claim checks are stored and removed for it."""
        return ClaimOrigin.of(self.position, self.appended)

    @property
    def event_id(self) -> str | None:
        """The event's own, None without one. Reads the value."""
        return event_id_of(self.value)

    def output_headers(self, event_id: str | None) -> Headers:
        """What every record has that is made of the message: its position, its event's id, and what is passed on."""
        return self.position.headers() + event_id_headers(event_id) + self.headers


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A message whose fetches did not succeed in time, but might later.

    `retry_after_s` is how long the upstream asked to get no requests. Not `tried`: no request was made for it, or none
    that counts, as the upstream is down. `wiki_id` is the wiki that was asked, where that is known.
    """

    failure: Failure
    retry_after_s: float | None = None
    tried: bool = True
    wiki_id: str | None = None


Outcome = Record | Unfinished | None


@dataclass(frozen=True, slots=True)
class InTurn:
    """A message that has something to do which must wait for its turn in its page: `finish` does it, and may be called
    again.
    """

    finish: Callable[[], Awaitable[Outcome]]


Processed = Outcome | InTurn


class Processor(Protocol):
    """A job at work."""

    async def process(self, message: SourceMessage, *, limit_s: float) -> Processed:
        """The record for a message, None when it is filtered; or what makes it, when the earlier events of its page
        have been emitted. `limit_s` seconds are for its fetches, counted from the first request. Raises only when the
        job cannot go on.
        """
        ...

    def hold(self, message: SourceMessage) -> None:
        """To be called for a message that was read and is processed later, behind a deferred one of its page."""
        ...

    def error(self, message: SourceMessage, failure: Failure) -> Record:
        """The error event of a message that ends here."""
        ...
