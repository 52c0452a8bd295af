"""What a job asks a wiki for, what it makes of an answer with status 200, and by what words it knows an answer of
MediaWiki's.

The client knows hosts, deadlines, retries and bounds; a route knows one path and one shape of body. So what is asked
for is the job's, and how often and how long is the same for all jobs.

Between the job and MediaWiki stand proxies, and one that is misrouted or under maintenance answers too, with any
status. That says nothing about a revision: only MediaWiki's own words are believed, all else is an outage.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from pipeline.fetch.api_errors import meaning_of
from pipeline.fetch.header_fields import media_type

# Where Parsoid says of which wiki and revision its HTML is: in the first tag of the document.
_HEAD_CHARACTERS = 4096
_ABOUT = re.compile(r'<html\b[^>]*\sabout="(?:(?:https?:)?//([^/"]+))?[^"]*/revision/([0-9]+)"')
# What a status was made from, beside the key of the error; MediaWiki writes either.
_STATUS_KEYS = ("error-keys", "errors-keys")


@dataclass(frozen=True, slots=True)
class Head:
    """Of a response: its `Content-Type`, and its `Content-Revision-Id` where it has one. `is_another` tells whether a
    host is that of another wiki than was asked, by the table of wikis. `is_bounded`: its length, chunks or gzip tell
    where the body ends; else only the end of the connection does, which a broken one has too.
    """

    content_type: str = ""
    revision: str | None = None
    is_another: Callable[[str], bool] = field(default=lambda _host: False, compare=False, repr=False)
    is_bounded: bool = True


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
        """The path has the revision alone, so a page that was renamed since is found."""
        ...

    def read(self, rev_id: int, head: Head, body: str) -> str:
        """The content in the body of an answer with status 200. Raises TryAgainError, also for what is not
        MediaWiki's, or FetchFailedError of the client.
        """
        ...

    def refusal(self, body: str) -> str | None:
        """MediaWiki's own code for why it refused, in the body of an answer with another status; None when there is
        none, and the answer may be a proxy's, or when a proxy has changed what was asked.
        """
        ...


class HtmlRoute:
    """The HTML of a revision by MediaWiki's REST API: the body is the content."""

    def path(self, rev_id: int) -> str:
        """By the revision alone, so a page that was renamed since is found."""
        return f"/w/rest.php/v1/revision/{rev_id}/html"

    def read(self, rev_id: int, head: Head, body: str) -> str:
        """Raises TryAgainError for another content type, an empty body, or HTML of another revision or wiki."""
        if media_type(head.content_type) != "text/html":
            raise _not_the_page(f"content type {head.content_type[:100]!r}")
        if not body or body.isspace():
            raise _not_the_page("no body")
        match = _ABOUT.search(body, 0, _HEAD_CHARACTERS)
        host, stated = match.groups() if match else (None, None)
        if host is not None and head.is_another(host):
            # Most numbers are a revision in many wikis. A name that no wiki of the table has may be the wiki's own.
            raise _not_the_page(f"it is of {host[:100]}")
        # MediaWiki writes into the header what it was asked for, and Parsoid into the document what it has rendered: a
        # cache that has another revision's HTML under this one's key shows in the document alone.
        revisions = [revision for revision in (head.revision, stated) if revision]
        if not revisions:
            raise _not_the_page("it names no revision")
        if other := next((revision for revision in revisions if revision != str(rev_id)), None):
            raise _not_the_page(f"revision {other[:20]}")
        if not head.is_bounded and not body.rstrip().endswith("</html>"):
            raise _not_the_page("it breaks off")
        return body

    def refusal(self, body: str) -> str | None:
        """The `errorKey`, or the key behind it that says that the request may succeed later."""
        answer = json_object(body)
        # A private wiki has no `errorKey`.
        key = answer.get("errorKey") or answer.get("error")
        if not isinstance(key, str) or not ("errorKey" in answer or key.startswith("rest-")):
            return None
        if meaning_of(key) == "misrouted":
            return None
        return next((code for code in (key, *_status_keys(answer)) if meaning_of(code) == "later"), key)


def json_object(body: str) -> dict[str, object]:
    """The object that a body is in JSON; an empty one for anything else."""
    try:
        answer = orjson.loads(without_bom(body))
    except orjson.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def without_bom(body: str) -> str:
    """A body of JSON without the byte order mark that some proxies and editors put before it."""
    return body.removeprefix("\ufeff")


def _status_keys(answer: dict[str, object]) -> list[str]:
    lists = [keys for name in _STATUS_KEYS if isinstance(keys := answer.get(name), list)]
    return [key for keys in lists for key in keys if isinstance(key, str)]


def _not_the_page(reason: str) -> TryAgainError:
    return TryAgainError(f"status 200, and not MediaWiki's page: {reason}", of_upstream=True)


HTML = HtmlRoute()


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that a probe can make again: path and query below the endpoint, the `X-Request-Id`, and the wiki.
    `route` reads the answer's body; None when nothing is to be read in it.
    """

    path: str
    request_id: str
    rev_id: int = field(default=0, compare=False)
    route: Route | None = field(default=None, compare=False, repr=False)
    wiki_id: str = ""
