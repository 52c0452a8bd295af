"""All faults, by their keys in a rule's `do`, in the order in which a request meets them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from mockapi.faults import (
    bandwidth,
    body,
    capacity,
    charset,
    close,
    content_encoding,
    content_length,
    database_lag,
    degradation,
    dribble,
    garbage,
    gateway_timeout,
    hang,
    hidden,
    invalid_utf8,
    keep_alive,
    latency,
    latency_before_body,
    latency_through_body,
    malformed_chunk,
    missing,
    parse,
    parser_cache,
    rate_limit,
    refuse,
    replica_lag,
    reset,
    status,
    truncate,
)
from mockapi.faults.fault import Fault

_FAULTS: Final[dict[str, Fault[Any]]] = {
    fault.name: fault
    for fault in (
        rate_limit.FAULT,
        latency.FAULT,
        degradation.FAULT,
        latency_before_body.FAULT,
        latency_through_body.FAULT,
        parse.FAULT,
        capacity.FAULT,
        gateway_timeout.FAULT,
        status.FAULT,
        missing.FAULT,
        hidden.FAULT,
        replica_lag.FAULT,
        database_lag.FAULT,
        parser_cache.FAULT,
        body.FAULT,
        content_length.FAULT,
        content_encoding.FAULT,
        charset.FAULT,
        invalid_utf8.FAULT,
        truncate.FAULT,
        dribble.FAULT,
        bandwidth.FAULT,
        refuse.FAULT,
        hang.FAULT,
        reset.FAULT,
        close.FAULT,
        malformed_chunk.FAULT,
        garbage.FAULT,
        keep_alive.FAULT,
    )
}
FAULTS: Final[Mapping[str, Fault[Any]]] = MappingProxyType(_FAULTS)

_followers: Final[list[Callable[..., None]]] = []


def register(fault: Fault[Any]) -> None:
    """Adds a fault of another package after all others: from now on it is a key of `do`, and listed as they are.

    Raises ValueError for a name that is taken.
    """
    if fault.name in _FAULTS:
        raise ValueError(f"there is a fault {fault.name!r} already: give this one another name")
    _FAULTS[fault.name] = fault
    for follower in _followers:
        follower(fault)


def follow(take: Callable[..., None]) -> None:
    """Calls `take` with all faults now, and with each that is registered later."""
    take(*FAULTS.values())
    _followers.append(take)
