"""What a job is: its own filter, its own fetch, its own record shape. All else is `pipeline.jobs.enrichment`.

event ─▶ wants ─▶ fetch ─▶ value
           │                 ▲
           └ needs no fetch ─┘
"""

from typing import Protocol, TypeVar

from pipeline.fetch.deadline import Deadline
from pipeline.records.page_change import PageChange


class Fetched(Protocol):
    """What a job fetched for one event."""

    @property
    def declared_bytes(self) -> int | None:
        """The length in the response's header in bytes, None without one."""
        ...

    def decoded_bytes(self) -> int:
        """UTF-8 bytes of all that `value` will add to the event, before escaping."""
        ...


F = TypeVar("F", bound=Fetched)


class Job(Protocol[F]):
    """One for each Python worker; called for many events at once."""

    def wants(self, event: PageChange, /) -> bool:
        """Whether the event concerns the job, canaries aside; else it is filtered."""
        ...

    async def fetch(self, event: PageChange, /, *, deadline: Deadline) -> F:
        """What the event is enriched with. Not asked for deletes and hidden content.

        Every request names event and role (`event.request_id`) and shares the deadline. Raises FetchFailedError.
        """
        ...

    def value(self, event: PageChange, fetched: F | None, /, *, stream: str) -> bytes:
        """The value of the output record, a function of the arguments. None: the event passes without content."""
        ...
