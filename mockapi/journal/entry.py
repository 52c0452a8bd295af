"""What the journal knows of one request: when it came, what it asked, what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self


@dataclass(frozen=True, kw_only=True)
class Begun:
    """`n` counts requests from 1; `at` is an aware time, `at_s` the same in seconds since the first request."""

    n: int
    at: datetime
    at_s: float


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it came in, with what the rules made of it.

    `revisions` are all that it is about; wiki, page (the title of a known revision's page) and revision those of the
    first. `key` is what draws of the wiki depend on. `rules` are the names of all that matched, `draws` what they drew.
    """

    method: str
    path: str
    query: str = ""
    host: str
    client: str = ""
    wiki: str | None
    page: str | None
    revision: int | None
    revisions: tuple[int, ...] = ()
    key: str = ""
    request_id: str
    attempt: int
    rules: tuple[str, ...]
    draws: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of a request.

    `status` is None when nothing was sent. `content_length` is the header as sent. `wire_bytes` of the body were handed
    to the socket; `real_bytes` is the length of the whole body when decoded, 0 when none was to be sent.
    `completed` is False when the client disconnected before the end. `changed_by` names what faults changed of the
    answer's body, headers and connection.
    """

    status: int | None = None
    content_length: int | None = None
    content_encoding: str | None = None
    wire_bytes: int = 0
    real_bytes: int = 0
    completed: bool = False
    changed_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class InFlight(Asked, Begun):
    """A request that has not ended, `waited_s` seconds after it began."""

    waited_s: float


@dataclass(frozen=True, kw_only=True)
class Entry(Result, Asked, Begun):
    """A request that has ended, `duration_s` seconds after it began."""

    duration_s: float

    @classmethod
    def of(cls, begun: Begun, asked: Asked, result: Result, duration_s: float) -> Self:
        """`duration_s` is from the request's arrival to its end."""
        # Setting two dozen frozen fields one by one would be a third of what the journal costs a request.
        entry = cls.__new__(cls)
        fields = vars(entry)
        for part in (begun, asked, result):
            fields.update(vars(part))
        fields["duration_s"] = duration_s
        return entry


def status_key(entry: Result) -> str:
    """The status as counts name it: `none` when nothing was sent."""
    return "none" if entry.status is None else str(entry.status)
