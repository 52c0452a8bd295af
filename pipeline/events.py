"""What a pipeline process says of itself, one class for each event: a contract with who reads its log.

A line is a JSON object with the time (`at`), the event's name and its fields as they are named here; a field that may
be omitted has None for its default. They are dataclasses and not pydantic's models, as what a job says must not be
able to end it: nothing is checked when it is logged, mypy has. A reader of lines checks them with `PipelineEvent`.
Where a field has another default than None, another program that logs the event may omit it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Protocol, get_args

from pydantic import Field


class Event(Protocol):
    """What can be logged."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]

    @property
    def event(self) -> str: ...


def fields_of(event: Event) -> dict[str, object]:
    """The fields of a line, without the event's name; those that may be omitted and are None are."""
    found = ((field, getattr(event, field.name)) for field in dataclasses.fields(event) if field.name != "event")
    return {field.name: value for field, value in found if not (value is None and field.default is None)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """`effective` is the whole of it, as a configuration file would have it."""

    event: Literal["configuration"] = "configuration"
    unsafe: tuple[str, ...]
    effective: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The memory plan, in bytes."""

    event: Literal["memory"] = "memory"
    limit: Mapping[str, object]
    parts: Mapping[str, int]
    settings: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsUnknown:
    """Spark was given settings that it does not know."""

    event: Literal["settings_unknown"] = "settings_unknown"
    settings: tuple[str, ...]
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSettings:
    """Settings of Spark, its source and the producer, as they are."""

    event: Literal["effective_settings"] = "effective_settings"
    heap_bytes: int
    spark: Mapping[str, object]
    source: Mapping[str, object]
    producer: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLimits:
    """All in bytes, as `pipeline.limits.judge.Limits` has them."""

    event: Literal["limits"] = "limits"
    max_request_size: int
    buffer_memory: int
    source_topic: int | None
    output_topic: int | None
    error_topic: int | None
    ledger_topic: int | None
    broker_message: int | None
    broker_request: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsDisagree:
    """A record may pass one limit and be refused at the next."""

    event: Literal["limits_disagree"] = "limits_disagree"
    problem: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsUnknown:
    """The brokers did not say their limits."""

    event: Literal["limits_unknown"] = "limits_unknown"
    bootstrap: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTaken:
    """`made_by` is the job that made it; `adopted`: it had no mark, and has this job's now."""

    event: Literal["checkpoint"] = "checkpoint"
    place: str
    made_by: Mapping[str, object]
    adopted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsServed:
    """`url` is where."""

    event: Literal["metrics"] = "metrics"
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkBounds:
    """What bounds the work under way in each of `workers` Python workers."""

    event: Literal["bounds"] = "bounds"
    workers: int
    requests: int
    requests_per_wiki: int | None
    bytes: int
    slow_round_requests: int
    slow_round_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The query runs; `start` is the position it began at, `spark_ui` an address or `off`."""

    event: Literal["started"] = "started"
    start: str | None = None
    spark_ui: str = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStarted:
    """`reserved` deferred events go with it."""

    event: Literal["batch_started"] = "batch_started"
    batch: int
    reserved: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWritten:
    """Its records are emitted; `seconds` is since it started."""

    event: Literal["batch_written"] = "batch_written"
    batch: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCommitted:
    """Spark says so late, after the next batch has run."""

    event: Literal["batch_committed"] = "batch_committed"
    batch: int
    rows: int
    durations_ms: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The main lane waits before `batch`: for `wikis`, or for room as `entries` of `bytes` are deferred."""

    event: Literal["waiting"] = "waiting"
    batch: int | None = None
    reason: str
    wikis: tuple[str, ...] | None = None
    entries: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The wait is over."""

    event: Literal["resumed"] = "resumed"
    batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferralStatus:
    """What is deferred, when that has changed."""

    event: Literal["deferral"] = "deferral"
    entries: int
    bytes: int
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRound:
    """A round of the slow lane has ended. `rewritten` entries stay deferred, with what the round learned."""

    event: Literal["slow_round"] = "slow_round"
    pages: int
    entries: int
    resolved: int
    rewritten: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GaveUp:
    """The deferred event of `position` has become an error event."""

    event: Literal["gave_up"] = "gave_up"
    position: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCarriedOut:
    """An operator's command; `found`: the deferred event was there."""

    event: Literal["command"] = "command"
    action: str
    position: str
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOpen:
    """`failed` of `requests` to a wiki; it is not asked for `remaining_s`."""

    event: Literal["breaker_open"] = "breaker_open"
    wiki: str
    requests: int
    failed: int
    why: str
    remaining_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerProbe:
    """A wiki was asked again; unless it is healthy, the next probe follows after `next_s`."""

    event: Literal["breaker_probe"] = "breaker_probe"
    wiki: str
    path: str
    answer: str
    healthy: bool
    next_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerClosed:
    """`seconds` after it opened."""

    event: Literal["breaker_closed"] = "breaker_closed"
    wiki: str
    seconds: float
    probes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStoreDown:
    """Logged again from time to time while it lasts; `seconds` is for how long."""

    event: Literal["claim_store_down"] = "claim_store_down"
    store: str
    seconds: float
    reason: str
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStoreBack:
    """`seconds` after it went down."""

    event: Literal["claim_store_back"] = "claim_store_back"
    store: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LagUnknown:
    """The lag that is served stays what it was last."""

    event: Literal["lag_unknown"] = "lag_unknown"
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """SIGTERM came; what is under way has `within_s` to end."""

    event: Literal["stopping"] = "stopping"
    batch: int | None
    rounds: int
    within_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The process ends, `seconds` after it was asked to."""

    event: Literal["stopped"] = "stopped"
    seconds: float
    rounds_given_up: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The process ends with an error.

    `refused`: before its query began, as trying again would not help. `stalled`: as no commit came in its time.
    """

    event: Literal["failed"] = "failed"
    error: str
    refused: bool = False
    stalled: bool = False


PipelineEvent = Annotated[
    Configuration
    | Memory
    | SettingsUnknown
    | EffectiveSettings
    | BrokerLimits
    | LimitsDisagree
    | LimitsUnknown
    | CheckpointTaken
    | MetricsServed
    | WorkBounds
    | Started
    | BatchStarted
    | BatchWritten
    | BatchCommitted
    | Waiting
    | Resumed
    | DeferralStatus
    | SlowRound
    | GaveUp
    | CommandCarriedOut
    | BreakerOpen
    | BreakerProbe
    | BreakerClosed
    | ClaimStoreDown
    | ClaimStoreBack
    | LagUnknown
    | Stopping
    | Stopped
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
