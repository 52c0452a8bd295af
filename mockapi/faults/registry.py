"""All faults, by their keys in a rule's `do`, in the order in which a request meets them."""

from typing import Any, Final, get_args

from located_config.near import near_miss
from located_config.registry import Registry
from mockapi.faults import (
    bandwidth,
    body,
    capacity,
    charset,
    close,
    connections,
    content_encoding,
    content_length,
    database_lag,
    degradation,
    dribble,
    error,
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
    proxy_page,
    rate_limit,
    refuse,
    replica_lag,
    reset,
    status,
    truncate,
)
from mockapi.faults.fault import Fault, Group

FAULTS: Final[Registry[Fault[Any]]] = Registry(
    "fault of the mock",
    {
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
            proxy_page.FAULT,
            error.FAULT,
            missing.FAULT,
            hidden.FAULT,
            replica_lag.FAULT,
            database_lag.FAULT,
            body.FAULT,
            content_length.FAULT,
            content_encoding.FAULT,
            charset.FAULT,
            invalid_utf8.FAULT,
            truncate.FAULT,
            dribble.FAULT,
            bandwidth.FAULT,
            refuse.FAULT,
            connections.FAULT,
            hang.FAULT,
            reset.FAULT,
            close.FAULT,
            malformed_chunk.FAULT,
            garbage.FAULT,
            keep_alive.FAULT,
        )
    },
)


def register(fault: Fault[Any]) -> None:
    """Adds a fault of another package after all others: from now on it is a key of `do`, and listed as they are.

    Raises ValueError for a name that is taken, or a group that there is not.
    """
    if fault.group not in get_args(Group):
        raise ValueError(f"there is no group {fault.group!r} of faults; {near_miss(fault.group, get_args(Group))}")
    FAULTS.add(fault.name, fault)
