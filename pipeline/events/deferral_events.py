"""What a process says of deferred events."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferralStatus:
    """The size of the ledger; logged when it has changed."""

    event: Literal["deferral"] = "deferral"
    entries: int
    """Number of deferred events."""
    bytes: int
    """Bytes that they take in the deferral topic."""
    pages: int
    """Number of pages with deferred events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRound:
    """A round of the slow lane has ended."""

    event: Literal["slow_round"] = "slow_round"
    pages: int
    """Number of pages whose events the round took."""
    entries: int
    """Number of deferred events that it took."""
    resolved: int
    """Number of those that became an output or an error event."""
    rewritten: int
    """Number of those that stay deferred, with the result of this try."""
    seconds: float
    """Seconds that the round took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaveUp:
    """A deferred event has become an error event."""

    event: Literal["gave_up"] = "gave_up"
    position: str
    """Its source event, as `TOPIC/PARTITION/OFFSET`."""
    reason: str
    """Why it was given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCarriedOut:
    """A command of an operator was carried out."""

    event: Literal["command"] = "command"
    action: str
    """The command: `retry` or `drop`."""
    position: str
    """The source event that it is about, as `TOPIC/PARTITION/OFFSET`."""
    found: bool
    """Whether that event was deferred."""
