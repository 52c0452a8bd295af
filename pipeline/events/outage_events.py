"""What a process says of the health of what it depends on."""

from dataclasses import dataclass
from typing import Literal

Grain = Literal["endpoint", "wiki"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOpen:
    """Too many requests failed, to one wiki or to many: none are sent to it, or to the endpoint, for a while."""

    event: Literal["breaker_open"] = "breaker_open"
    grain: Grain
    """Whose breaker it is: the endpoint's, or a wiki's."""
    wiki: str | None = None
    """Id of the wiki; null for the endpoint."""
    wikis: int | None = None
    """Number of wikis of which requests failed; null for a wiki."""
    requests: int
    """Number of requests in the breaker's window."""
    failed: int
    """Number of those that failed."""
    why: str
    """The last failure."""
    remaining_s: float
    """Seconds until the first probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerProbe:
    """A probe was sent to an unhealthy wiki, or to the endpoint. Unless it succeeds, another one follows."""

    event: Literal["breaker_probe"] = "breaker_probe"
    grain: Grain
    """Whose breaker it is about: the endpoint's, or the wiki's."""
    wiki: str
    """Id of the wiki that the probe was sent to."""
    path: str
    """Path of the request."""
    answer: str
    """The answer, in words."""
    healthy: bool
    """Whether the answer closes the breaker."""
    next_s: float | None = None
    """Seconds until the next probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerClosed:
    """A wiki, or the endpoint, is healthy again."""

    event: Literal["breaker_closed"] = "breaker_closed"
    grain: Grain
    """Whose breaker it is: the endpoint's, or a wiki's."""
    wiki: str | None = None
    """Id of the wiki; null for the endpoint."""
    seconds: float
    """Seconds for which the breaker was open."""
    probes: int
    """Number of probes until one succeeded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStoreDown:
    """The object store does not take claim checks. Logged again from time to time while it lasts."""

    event: Literal["claim_store_down"] = "claim_store_down"
    store: str
    """The bucket and its endpoint."""
    seconds: float
    """Seconds for which it has been down so far."""
    reason: str
    """What the last attempt failed with."""
    effect: str
    """What the job does meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStoreBack:
    """The object store takes claim checks again."""

    event: Literal["claim_store_back"] = "claim_store_back"
    store: str
    """The bucket and its endpoint."""
    seconds: float
    """Seconds for which it was down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChecksRemoved:
    """An event deleted a page or hid a part of a revision: earlier claim checks were removed. Not logged if there were
    none.
    """

    event: Literal["claim_checks_removed"] = "claim_checks_removed"
    wiki: str
    """Id of the wiki."""
    page: int
    """Id of the page."""
    revision: int | None = None
    """Id of the revision; null where the whole page is meant."""
    source: str
    """Topic, partition and offset of the event."""
    removed: int
    """Number of claim checks."""
    stay: int = 0
    """Number of claim checks that stay, as a later event stored them; the present event is a repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChecksNotRemoved:
    """The claim checks of what an event deleted or hid could not be removed, and may still be there."""

    event: Literal["claim_checks_not_removed"] = "claim_checks_not_removed"
    wiki: str
    """Id of the wiki."""
    page: int
    """Id of the page."""
    revision: int | None = None
    """Id of the revision; null where the whole page is meant."""
    source: str
    """Topic, partition and offset of the event."""
    reason: str
    """What the last attempt failed with; that of another event where this one was not tried, as the store did not
    answer seconds before."""
    remedy: str
    """The command that removes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WikisFileRead:
    """A table of wikis that has changed, or was unusable, is effective."""

    event: Literal["wikis_file_read"] = "wikis_file_read"
    file: str
    """Path of the file."""
    wikis: int
    """Number of wikis in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WikisFileUnusable:
    """A table of wikis has changed, or is gone, and cannot be read; the one before it stays effective. Logged once for
    each reason.
    """

    event: Literal["wikis_file_unusable"] = "wikis_file_unusable"
    file: str
    """Path of the file."""
    reason: str
    """What is wrong with it, with line and column."""
    hint: str
    """What to do about it."""
    wikis: int
    """Number of wikis in the table that stays effective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LagUnknown:
    """The lag could not be measured; its metrics keep the last values."""

    event: Literal["lag_unknown"] = "lag_unknown"
    error: str
    """Class and text of the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmUnknown:
    """The driver's JVM did not answer; its metrics are not reported until it does."""

    event: Literal["jvm_unknown"] = "jvm_unknown"
    error: str
    """Class and text of the error."""
