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
class LagUnknown:
    """The lag could not be measured; its metrics keep the last values."""

    event: Literal["lag_unknown"] = "lag_unknown"
    error: str
    """Class and text of the error."""
