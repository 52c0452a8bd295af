"""What `python -m pipeline apply` says: where it begins, what it has applied, and how its store is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStarted:
    """The process begins to read mutations."""

    event: Literal["apply_started"] = "apply_started"
    topic: str
    """The topic of mutations."""
    endpoint: str
    """URL of the store's update endpoint."""
    next_offset: int
    """The first offset that is read."""
    kept_in: Literal["store", "kafka", "new"]
    """Where that offset was; `new` where `--new` says it."""
    behind: int
    """Number of offsets from there to the end of the topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRewound:
    """The store is behind what was applied to it before, as it was restored from an older copy, or has executed two
    requests at the same moment: the mutations since then are applied again.
    """

    event: Literal["store_rewound"] = "store_rewound"
    store_offset: int
    """The next offset in the store, from which the process reads on."""
    expected_offset: int
    """The next offset that was applied before, as this process or the consumer group has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationsApplied:
    """What was done since the last line of this kind. Logged every few seconds while there is something to do, and at
    the end.
    """

    event: Literal["mutations_applied"] = "mutations_applied"
    next_offset: int
    """The offset from which a restart would read."""
    requests: int
    """Number of update requests."""
    mutations: int
    """Number of mutations in them."""
    cleared: int
    """Number of entities that were deleted by query."""
    deleted: int
    """Number of triples in their deletes, without those deleted by query."""
    inserted: int
    """Number of triples in their inserts."""
    repeats: int
    """Number of mutations that were dropped, as they repeat an earlier one of their entity."""
    absent: int
    """Number of diffs that were not applied, as the store does not have their entity: it was deleted, or is missing."""
    dropped: int
    """Number of chunks that were dropped, as the rest of their mutation did not follow."""
    unlinked: int
    """Number of shared triples that were not linked any more and stay."""
    ignored: int
    """Number of deletes that were not applied, under `apply.deletes: ignore`."""
    probed: int
    """Number of triples that the store was asked about."""
    missing: int
    """Number of those that it should have had and did not have."""
    unexpected: int
    """Number of those that it had and should not have had."""
    poll_s: float
    """Seconds spent waiting for records."""
    store_s: float
    """Seconds spent waiting for the store, probes included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationIncomplete:
    """A chunk came without the chunks before it, or more than `apply.incomplete_after` later: its mutation is not
    applied, unless all of it comes again. A reconcile of the entity makes the store right.
    """

    event: Literal["mutation_incomplete"] = "mutation_incomplete"
    entity: str
    """Id of the entity."""
    request_id: str
    """Id of the mutation's operation."""
    offset: int
    """The chunk's offset."""
    sequence: int
    """The chunk's place in its mutation, from 0."""
    length: int
    """Number of chunks of the mutation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TripleStoreDown:
    """The triple store does not answer; the same request is sent again until it does. Logged again from time to time
    while it lasts.
    """

    event: Literal["triple_store_down"] = "triple_store_down"
    endpoint: str
    """URL that was asked."""
    seconds: float
    """Seconds for which it has been down so far."""
    reason: str
    """What the last attempt failed with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TripleStoreBack:
    """The triple store answers again."""

    event: Literal["triple_store_back"] = "triple_store_back"
    endpoint: str
    """URL that was asked."""
    seconds: float
    """Seconds for which it was down."""
