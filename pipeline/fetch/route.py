"""What a job asks a wiki for, and what it makes of an answer with status 200.

The client knows hosts, deadlines, retries and bounds; a route knows one path and one shape of body. So what is asked
for is the job's, and how often and how long is the same for all jobs.
"""

from typing import Protocol


class TryAgainError(Exception):
    """The answer says that the same request may succeed soon; its text says why.

    It is a retry like that of a status: of the same total, budget and deadline, and obedient to `Retry-After`.
    `of_upstream`: the upstream is unhealthy or busy, which a breaker counts as a failure.
    """

    def __init__(self, why: str, *, of_upstream: bool) -> None:
        super().__init__(why)
        self.of_upstream = of_upstream


class Route(Protocol):
    """Called for many records at once, so it keeps nothing of one."""

    def path(self, rev_id: int) -> str:
        """Path and query below the endpoint. Only the number is the event's."""
        ...

    def read(self, rev_id: int, body: str) -> str:
        """The content in the body of a successful answer. Raises TryAgainError, or FetchFailedError of the client."""
        ...


class HtmlRoute:
    """The HTML of a revision by MediaWiki's REST API: the body is the content."""

    def path(self, rev_id: int) -> str:
        return f"/w/rest.php/v1/revision/{rev_id}/html"

    def read(self, rev_id: int, body: str) -> str:  # noqa: ARG002 - a form of `Route.read`
        return body


HTML = HtmlRoute()
