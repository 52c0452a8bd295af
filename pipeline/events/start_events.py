"""What a process says before its query runs: its configuration, what it found, and what it took over."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

LimitOf = Literal["producer", "broker", "source topic", "output topic", "error topic", "ledger topic"]
"""Who refuses a record that is too large for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The configuration that the process runs with."""

    event: Literal["configuration"] = "configuration"
    unsafe: tuple[str, ...]
    """Keys with an unsafe value that `--allow-unsafe` has accepted; empty without any."""
    effective: Mapping[str, object] | None = None
    """Every key of the configuration with its value, as in a configuration file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """How the container's memory is divided."""

    event: Literal["memory"] = "memory"
    limit: Mapping[str, object]
    """The limit of the container in bytes, the number of slots, and where Spark runs."""
    parts: Mapping[str, int]
    """Bytes that each part gets, by name."""
    settings: Mapping[str, int]
    """Bytes of each setting that follows from it, by Spark's name for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsUnknown:
    """Spark was given settings that it does not know."""

    event: Literal["settings_unknown"] = "settings_unknown"
    settings: tuple[str, ...]
    """Names of the settings."""
    hint: str
    """What that may mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSettings:
    """The effective settings of Spark, of its Kafka source and of the producer."""

    event: Literal["effective_settings"] = "effective_settings"
    heap_bytes: int
    """Bytes that the driver's JVM may take for its heap."""
    spark: Mapping[str, object]
    """Spark's settings by name, without secrets."""
    source: Mapping[str, object]
    """Options of the Kafka source by name."""
    producer: Mapping[str, object]
    """Settings of the producer by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLimits:
    """The producer's and the brokers' limits on the size of a record."""

    event: Literal["limits"] = "limits"
    max_request_size: int
    """Bytes of the largest request that the producer sends, its `max.request.size`."""
    buffer_memory: int
    """Bytes that the producer may hold, its `buffer.memory`."""
    source_topic: int | None
    """Largest record in bytes that the source topic accepts, of several topics the highest limit; null where it is not
    known.
    """
    output_topic: int | None
    """Largest record in bytes that the output topic accepts; null where it is not known."""
    error_topic: int | None
    """Largest record in bytes that the error topic accepts; null where it is not known."""
    ledger_topic: int | None
    """Largest record in bytes that the deferral topic accepts; null where it is not known."""
    lapsed_topic: int | None = None
    """Largest record in bytes that the topic of lapsed_action events accepts; null where it is not known, or not used.
    """
    fetch_failure_topic: int | None = None
    """Largest record in bytes that the topic of fetch_failure events accepts; null where it is not known, or not used.
    """
    inconsistency_topic: int | None = None
    """Largest record in bytes that the topic of state_inconsistency events accepts; null where it is not known, or not
    used.
    """
    batch_size: int | None = None
    """Bytes of the largest batch that the producer sends, its `batch.size`: each topic accepts that. Omitted by a
    program that does not say.
    """
    broker_message: int | None
    """Bytes of the largest record of a topic without a limit of its own, the broker's `message.max.bytes`."""
    broker_request: int | None
    """Bytes of the largest request that the broker reads, its `socket.request.max.bytes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsDisagree:
    """Two limits do not fit: a record that one of them allows may be refused by the other."""

    event: Literal["limits_disagree"] = "limits_disagree"
    problem: str
    """Both limits with their values."""
    hint: str
    """Which setting to change."""
    of: LimitOf | None = None
    """Whose limit does not fit `sink.max.request.size`; omitted by a program that does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsUnknown:
    """The brokers did not report their limits."""

    event: Literal["limits_unknown"] = "limits_unknown"
    bootstrap: str
    """Addresses of the brokers that were asked."""
    reason: str
    """What went wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokersAwaited:
    """The start waits for brokers that do not answer, and tries again."""

    event: Literal["brokers_awaited"] = "brokers_awaited"
    bootstrap: str
    """Addresses of the brokers."""
    reason: str
    """Why they could not be reached."""
    remaining_s: float
    """Seconds until the process ends with exit code 1, by `stall_timeout`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTaken:
    """The checkpoint belongs to this job."""

    event: Literal["checkpoint"] = "checkpoint"
    place: str
    """Path or URL of the checkpoint."""
    made_by: Mapping[str, object]
    """Identity of the job that made it, from its `job.json`."""
    adopted: bool
    """Whether the checkpoint had no `job.json`, so that this job has written one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTaken:
    """The job has taken over its ledger."""

    event: Literal["ledger"] = "ledger"
    topic: str
    """Topic of deferred events."""
    id: str | None
    """The topic's id in Kafka, null where the cluster gives none."""
    epoch: int
    """Epoch of this driver: each driver that takes over the ledger has a higher one."""
    entries: int
    """Number of deferred events in it."""
    discarded: int
    """Number of deferred events that `--discard-ledger` has given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAtRisk:
    """The ledger's topic has so few replicas that deferred events may be lost with a broker."""

    event: Literal["ledger_at_risk"] = "ledger_at_risk"
    topic: str
    """Topic of deferred events."""
    replicas: int
    """Number of replicas of the partition that has the fewest."""
    hint: str
    """What to do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactMissing:
    """The wikis cannot tell who runs the job: the configuration names no contact."""

    event: Literal["contact_missing"] = "contact_missing"
    endpoint: str
    """URL that the requests go to."""
    hint: str
    """What to do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokersRepeated:
    """A list of brokers has an address more than once, so it may lack the one that was meant."""

    event: Literal["brokers_repeated"] = "brokers_repeated"
    setting: str
    """Key of the list in the configuration."""
    brokers: tuple[str, ...]
    """The repeated addresses, each once."""
    hint: str
    """What to do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapDumpsOff:
    """An OutOfMemoryError of the driver's JVM will write no heap dump, as there are enough of earlier starts."""

    event: Literal["heap_dumps_off"] = "heap_dumps_off"
    directory: str
    """Directory of the dumps."""
    dumps: int
    """Number of dumps there."""
    keep: int
    """The configured `heap_dump.keep`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsServed:
    """The process serves its metrics."""

    event: Literal["metrics"] = "metrics"
    url: str
    """Where they are served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkBounds:
    """What bounds the work under way."""

    event: Literal["bounds"] = "bounds"
    workers: int
    """Number of Python workers of the main lane."""
    requests: int
    """Number of requests that each worker may have under way."""
    bytes: int | None
    """Bytes of fetched content that each worker may hold in memory; null without a bound."""
    slow_round_requests: int
    """Number of requests that a round of the slow lane may have under way."""
    slow_round_bytes: int
    """Bytes of fetched content that a round of the slow lane may hold in memory."""
    trial_requests: int | None = None
    """Number of requests of all workers that go first to a wiki, or to the endpoint, when a probe has succeeded; null
    without breakers.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The query runs."""

    event: Literal["started"] = "started"
    start: str | None = None
    """`checkpoint`, or the position that `--new` gave."""
    spark_ui: str = "off"
    """URL of Spark's own pages, or `off`."""
