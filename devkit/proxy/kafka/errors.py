"""Errors of Kafka's protocol by name, and the requests to which a broker answers with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Api = Literal[
    "produce",
    "fetch",
    "list_offsets",
    "offset_commit",
    "offset_fetch",
    "find_coordinator",
    "join_group",
    "sync_group",
    "heartbeat",
    "init_producer_id",
]
ErrorName = Literal[
    "offset_out_of_range",
    "not_leader_or_follower",
    "request_timed_out",
    "message_too_large",
    "coordinator_load_in_progress",
    "coordinator_not_available",
    "not_coordinator",
    "not_enough_replicas",
    "not_enough_replicas_after_append",
    "invalid_producer_epoch",
    "fenced_leader_epoch",
    "producer_fenced",
]

TOPIC_APIS: Final[frozenset[Api]] = frozenset({"produce", "fetch", "list_offsets", "offset_commit"})
"""Their requests are by topic and partition."""
_GROUP_APIS: Final[frozenset[Api]] = frozenset(
    {"offset_commit", "offset_fetch", "join_group", "sync_group", "heartbeat"}
)


@dataclass(frozen=True)
class BrokerError:
    """`code` is Kafka's. `applied` is whether the broker does what it was asked before it answers with the error."""

    code: int
    apis: frozenset[Api]
    applied: bool = False


_FINDING: Final[frozenset[Api]] = frozenset({"find_coordinator"})
_COORDINATED: Final[frozenset[Api]] = frozenset({"init_producer_id", *_GROUP_APIS})

ERRORS: Final[Mapping[str, BrokerError]] = MappingProxyType(
    {
        "offset_out_of_range": BrokerError(1, frozenset({"fetch"})),
        "not_leader_or_follower": BrokerError(6, frozenset({"produce", "fetch", "list_offsets"})),
        "request_timed_out": BrokerError(7, frozenset({"produce"}), applied=True),
        "message_too_large": BrokerError(10, frozenset({"produce"})),
        "coordinator_load_in_progress": BrokerError(14, _COORDINATED),
        "coordinator_not_available": BrokerError(15, _COORDINATED.union(_FINDING)),
        "not_coordinator": BrokerError(16, _COORDINATED),
        "not_enough_replicas": BrokerError(19, frozenset({"produce"})),
        "not_enough_replicas_after_append": BrokerError(20, frozenset({"produce"}), applied=True),
        "invalid_producer_epoch": BrokerError(47, frozenset({"produce", "init_producer_id"})),
        "fenced_leader_epoch": BrokerError(74, frozenset({"fetch", "list_offsets"})),
        "producer_fenced": BrokerError(90, frozenset({"init_producer_id"})),
    }
)
