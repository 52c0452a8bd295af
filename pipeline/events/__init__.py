"""What a pipeline process says of itself, one class for each event: a contract with who reads its log.

A line is a JSON object with the time (`at`), the event's name and its fields as they are named here; a field that may
be omitted has None for its default. They are dataclasses and not pydantic's models, as what a job says must not be
able to end it: nothing is checked when it is logged, mypy has. A reader of lines checks them with `PipelineEvent`.
Where a field has another default than None, another program that logs the event may omit it. The text below a field
describes it in the reference.
"""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, ClassVar, Protocol, get_args

from pydantic import Field

from pipeline.events.apply_events import (
    ApplyStarted,
    MutationIncomplete,
    MutationsApplied,
    StoreRewound,
    TripleStoreBack,
    TripleStoreDown,
)
from pipeline.events.batch_events import (
    BatchCommitted,
    BatchStarted,
    BatchWritten,
    CommitSlow,
    OffsetsRead,
    Resumed,
    StateCommitted,
    TaskRetried,
    Waiting,
)
from pipeline.events.deferral_events import (
    CommandCarriedOut,
    DeferralStatus,
    GaveUp,
    SlowRound,
)
from pipeline.events.end_events import (
    Failed,
    HeapDumped,
    LinesLost,
    Stalled,
    Stopped,
    Stopping,
)
from pipeline.events.event_time_events import (
    EventTimeFreed,
    EventTimeHeld,
    PartitionsIdle,
)
from pipeline.events.outage_events import (
    BreakerClosed,
    BreakerOpen,
    BreakerProbe,
    ClaimChecksNotRemoved,
    ClaimChecksRemoved,
    ClaimStoreBack,
    ClaimStoreDown,
    Grain,
    JvmUnknown,
    LagUnknown,
    WikisFileRead,
    WikisFileUnusable,
)
from pipeline.events.start_events import (
    BrokerLimits,
    BrokersAwaited,
    BrokersRepeated,
    CheckpointTaken,
    Configuration,
    ContactMissing,
    EffectiveSettings,
    HeapDumpsOff,
    LedgerAtRisk,
    LedgerTaken,
    LimitOf,
    LimitsDisagree,
    LimitsUnknown,
    Memory,
    MetricsServed,
    SettingsUnknown,
    Started,
    WorkBounds,
)
from pipeline.events.term_events import InvalidTerm, InvalidTerms, invalid_terms_of

__all__ = [
    "EVENT_CLASSES",
    "OF_WORKERS",
    "ApplyStarted",
    "BatchCommitted",
    "BatchStarted",
    "BatchWritten",
    "BreakerClosed",
    "BreakerOpen",
    "BreakerProbe",
    "BrokerLimits",
    "BrokersAwaited",
    "BrokersRepeated",
    "CheckpointTaken",
    "ClaimChecksNotRemoved",
    "ClaimChecksRemoved",
    "ClaimStoreBack",
    "ClaimStoreDown",
    "CommandCarriedOut",
    "CommitSlow",
    "Configuration",
    "ContactMissing",
    "DeferralStatus",
    "EffectiveSettings",
    "Event",
    "EventTimeFreed",
    "EventTimeHeld",
    "Failed",
    "GaveUp",
    "Grain",
    "HeapDumped",
    "HeapDumpsOff",
    "InvalidTerm",
    "InvalidTerms",
    "JvmUnknown",
    "LagUnknown",
    "LedgerAtRisk",
    "LedgerTaken",
    "LimitOf",
    "LimitsDisagree",
    "LimitsUnknown",
    "LinesLost",
    "Memory",
    "MetricsServed",
    "MutationIncomplete",
    "MutationsApplied",
    "OffsetsRead",
    "PartitionsIdle",
    "PipelineEvent",
    "Resumed",
    "SettingsUnknown",
    "SlowRound",
    "Stalled",
    "Started",
    "StateCommitted",
    "Stopped",
    "Stopping",
    "StoreRewound",
    "TaskRetried",
    "TripleStoreBack",
    "TripleStoreDown",
    "Waiting",
    "WikisFileRead",
    "WikisFileUnusable",
    "WorkBounds",
    "fields_of",
    "invalid_terms_of",
]


class Event(Protocol):
    """A log event."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]

    @property
    def event(self) -> str:
        """The event's name in the log, as `batch_committed`."""


def fields_of(event: Event) -> dict[str, object]:
    """The fields of a line, without the event's name; those that may be omitted and are None are."""
    fields = ((field, getattr(event, field.name)) for field in dataclasses.fields(event) if field.name != "event")
    return {field.name: value for field, value in fields if not (value is None and field.default is None)}


PipelineEvent = Annotated[
    Configuration
    | Memory
    | SettingsUnknown
    | EffectiveSettings
    | BrokerLimits
    | BrokersAwaited
    | LimitsDisagree
    | LimitsUnknown
    | CheckpointTaken
    | LedgerTaken
    | LedgerAtRisk
    | BrokersRepeated
    | ContactMissing
    | HeapDumpsOff
    | MetricsServed
    | WorkBounds
    | Started
    | BatchStarted
    | TaskRetried
    | BatchWritten
    | BatchCommitted
    | StateCommitted
    | CommitSlow
    | Waiting
    | Resumed
    | EventTimeHeld
    | EventTimeFreed
    | PartitionsIdle
    | DeferralStatus
    | SlowRound
    | GaveUp
    | CommandCarriedOut
    | BreakerOpen
    | BreakerProbe
    | BreakerClosed
    | ClaimStoreDown
    | ClaimStoreBack
    | ClaimChecksRemoved
    | ClaimChecksNotRemoved
    | WikisFileRead
    | WikisFileUnusable
    | InvalidTerms
    | ApplyStarted
    | StoreRewound
    | MutationsApplied
    | MutationIncomplete
    | TripleStoreDown
    | TripleStoreBack
    | LagUnknown
    | JvmUnknown
    | Stopping
    | Stopped
    | HeapDumped
    | LinesLost
    | Failed,
    Field(discriminator="event"),
]

EVENT_CLASSES: Mapping[str, type[Event]] = {
    str(field.default): event
    for event in get_args(get_args(PipelineEvent)[0])
    for field in dataclasses.fields(event)
    if field.name == "event"
}
"""The members of the union by the names of their events, in its order."""

OF_WORKERS = frozenset(
    {"claim_store_down", "claim_store_back", "claim_checks_removed", "claim_checks_not_removed", "invalid_terms"}
)
"""Events that of a job only Python workers log. What those print comes out on the standard error of their executor,
which with `local[N]` is the job's own.
"""
