"""What a job is: what it reads, what it fetches for that, and what it makes of both. All else is
`pipeline.jobs.enrichment`.

message ─▶ parse ─▶ wants ─▶ needs_fetch ─▶ fetch ─▶ value, under a key
             │                    │                    ▲
             └ schema             └─ needs no fetch ───┘

Which topics it reads and writes stands in its `JobDefaults`. What jobs share that read page changes has
`PageChangeJob`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from pipeline.fetch.deadline import Deadline
from pipeline.jobs.message import SourceMessage
from pipeline.records.error_event import Failure
from pipeline.records.record import Headers


class ParsedEvent(Protocol):
    """A message as the job has parsed it."""

    @property
    def domain(self) -> str | None:
        """`meta.domain`: that of a canary event is `canary`, and no job gets to see one."""
        ...


class Fetched(Protocol):
    """What a job fetched for one event."""

    @property
    def declared_bytes(self) -> int | None:
        """The length in the response's header in bytes, None without one."""
        ...

    def decoded_bytes(self) -> int:
        """UTF-8 bytes of all that `value` will add to the event, before escaping."""
        ...


E = TypeVar("E", bound=ParsedEvent)
F = TypeVar("F", bound=Fetched)


class Job(Protocol[E, F]):
    """One for each Python worker; called for many events at once."""

    def schema(self, message: SourceMessage, /) -> str:
        """The schema that the message is read by, for its error event, also where the message is no event at all:
        a job that reads several topics knows it by `message.position.topic`. Cut after 200 characters.
        """
        ...

    def parse(self, message: SourceMessage, /) -> E:
        """The event in a message. Raises InvalidEventError, which becomes an error event."""
        ...

    def wants(self, event: E, /) -> bool:
        """Whether the event concerns the job, canaries aside; else it is filtered."""
        ...

    def needs_fetch(self, event: E, /) -> bool:
        """Whether something is fetched for the event; else it passes without."""
        ...

    def key(self, message: SourceMessage, event: E, /) -> bytes | None:
        """The key of the output record. Order is kept for events that have the same key in the source."""
        ...

    async def fetch(self, event: E, /, *, deadline: Deadline) -> F:
        """What the event is enriched with.

        Every request names event and role in its request id, and shares the deadline. Raises FetchFailedError.
        """
        ...

    def value(self, event: E, fetched: F | None, /, *, stream: str) -> bytes:
        """The value of the output record, a function of the arguments. None: the event passes without content."""
        ...


@dataclass(frozen=True, slots=True)
class OutputPart:
    """One of the records that an event's output is split into. `headers` are its own, beside those of every output.
    `slim` makes the value that it has when its payload goes to the object store, None where nothing can be left out.
    `topic` is its own, None for the output topic.
    """

    value: bytes
    headers: Headers = ()
    slim: Callable[[], bytes] | None = None
    topic: str | None = None


@runtime_checkable
class SplittingJob(Job[E, F], Protocol[E, F]):
    """One whose output may take several records, under one key. Its `value` is for error events alone."""

    def parts(self, event: E, fetched: F | None, /, *, stream: str, limit_bytes: int | None) -> Sequence[OutputPart]:
        """The records in order, a function of the arguments; none for an event without output. `limit_bytes` bounds a
        value and its own headers, None where nothing does: what cannot be split further may be larger.
        """
        ...


@runtime_checkable
class ReadingJob(Job[E, F], Protocol[E, F]):
    """One that has to know of an event as soon as it is read."""

    def read(self, event: E, /) -> None:
        """Called when the event's partition is read up to it, before anything is fetched for it or for a later one of
        its page, whatever becomes of it then; more than once where it is deferred.
        """
        ...


@runtime_checkable
class FailureWritingJob(Job[E, F], Protocol[E, F]):
    """One that writes some failures in a form of its own, to a topic of its own."""

    def failure_part(self, message: SourceMessage, event: E, failure: Failure, /) -> OutputPart | None:
        """The record of an event that ends without output, a function of the arguments; None: its error event. It is
        no larger than the largest error event.
        """
        ...
