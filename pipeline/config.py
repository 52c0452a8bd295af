"""The configuration of a pipeline process: what it does, not where Spark runs it.

What belongs to the place (master, memory, jars, S3A's endpoint) stands in Spark's own `spark-defaults.conf`, and
credentials in the environment; so the same file serves a laptop and a cluster. Quantities are written as
everywhere in this project: `20MiB`, `40ms`, `5%`. Counts of requests are totals, never "retries".
"""

from collections.abc import Mapping
from datetime import timedelta
from itertools import combinations
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FieldSerializationInfo,
    PositiveInt,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_serializer,
    model_validator,
)

from located_config.duration import Duration, PositiveDuration
from located_config.share import PositiveShare, Share
from located_config.size import Size
from pipeline.address import require_servers, require_something, require_url
from pipeline.jobs.names import HTML, PLACES, JobName, JobPlaces

MIB = 1024 * 1024
Topic = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
Servers = Annotated[str, AfterValidator(require_servers)]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+$"), AfterValidator(require_url)]
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]+)?$")]

_MIN_COMPACTION_LAG = timedelta(hours=24)
# What is still in the segment that is written to is never compacted, and a driver that starts reads all of it.
_SEGMENT_BYTES = 64 * MIB
_SEGMENT = timedelta(hours=1)
# What a batch needs besides its slow records: to hand on, have acknowledged and commit what it has.
_TIME_TO_WRITE = timedelta(seconds=10)


def _places(job: JobPlaces) -> Mapping[tuple[str, str], str]:
    """What the sections say where the configuration says nothing; html-enrichment's stand in the sections."""
    return {
        ("sink", "topic"): job.output_topic,
        ("sink", "error_topic"): job.error_topic,
        ("claim_check", "prefix"): job.claim_prefix,
        ("deferral", "topic"): job.deferred_topic,
    }


def _whole_seconds(value: timedelta) -> timedelta:
    if value % timedelta(seconds=1):
        raise ValueError("MediaWiki takes whole seconds here, write for example 5s")
    return value


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Source(_Section):
    """Where page change events come from."""

    bootstrap_servers: Servers
    topic: Topic = "mediawiki.page_change.v1"


class Sink(_Section):
    """Where enriched events and error events go. `max.request.size` is the producer's own setting, in bytes."""

    bootstrap_servers: Servers
    topic: Topic = HTML.output_topic
    error_topic: Topic = HTML.error_topic
    max_request_size: Annotated[Size, Field(alias="max.request.size", gt=0)] = MIB


class MediaWiki(_Section):
    """Which host answers for which wiki. An event names a wiki, never a host."""

    endpoint: HttpUrl
    wikis: dict[str, Host] = Field(default={"enwiki": "en.wikipedia.org"}, min_length=1)


class RetryBudget(_Section):
    """How many requests may be retries: a `share` of the first requests, and `burst` before there were any."""

    share: Share = 0.1
    burst: Annotated[int, Field(ge=0)] = 10


class Fetch(_Section):
    """One deadline for a record, shared by all its requests; `concurrency` bounds the requests of the main lane, and
    `concurrency_per_wiki` those of one wiki; its Python workers share them.

    Of a body `inline_limit` bytes are read into memory and the rest into a spool file. `max_in_flight_bytes` bounds
    what records that are not emitted yet hold in memory, likewise shared; while as much lies in spool files, no request
    for another record begins. One record may always exceed it, or a large one could never be emitted.

    `retry_budget` is shared by all records of a Python worker; `none` is unsafe: an unhealthy upstream gets every
    retry.

    A revision that a wiki does not have is an error event, unless its event is younger than `not_found_grace`, as
    replicas may lag.
    """

    concurrency: PositiveInt = 128
    deadline: PositiveDuration = timedelta(seconds=60)
    request_timeout: PositiveDuration = timedelta(seconds=20)
    total_requests: PositiveInt = 4
    retried_statuses: tuple[int, ...] = (408, 429, 500, 502, 503)
    backoff: Duration = timedelta(milliseconds=200)
    retry_budget: RetryBudget | Literal["none"] = RetryBudget()
    concurrency_per_wiki: PositiveInt | None = None
    max_in_flight_bytes: Annotated[Size, Field(gt=0)] = 256 * MIB
    inline_limit: Annotated[Size, Field(ge=0)] = MIB
    not_found_grace: Duration = timedelta(0)


class Content(_Section):
    """What content-enrichment asks for. `models` are the content models it enriches, the others are filtered.

    With replicas further behind than `maxlag` (whole seconds) MediaWiki refuses, and is asked again when it says.
    """

    models: Annotated[tuple[str, ...], Field(min_length=1)] | Literal["all"] = "all"
    maxlag: Annotated[Duration, AfterValidator(_whole_seconds)] = timedelta(seconds=5)


class ContentLimit(_Section):
    """The largest fetched content that is produced inline; above it, a claim check is.

    `decoded` counts latest HTML and diff in UTF-8 bytes. `content_length` believes the response header, which for a
    compressed answer is the compressed length, and passes when it is absent: unsafe, the policy of the incident.
    """

    max_bytes: Annotated[Size, Field(ge=0)] = 18 * MIB
    measure: Literal["decoded", "content_length"] = "decoded"


class RecordLimit(_Section):
    """Whether a record is measured as the producer will before it is produced. `none` is unsafe."""

    policy: Literal["serialized", "none"] = "serialized"


class ClaimCheck(_Section):
    """Where payloads go that are too large for a record. Larger than `max_bytes`, a body is cut off: an error event."""

    bucket: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{2,62}$")] = "claim-checks"
    prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._/-]*$")] = HTML.claim_prefix
    endpoint: HttpUrl | None = None
    region: str = "us-east-1"
    max_bytes: Annotated[Size, Field(ge=0)] = 64 * MIB


class Batch(_Section):
    """How much a micro-batch takes, and how often one is planned (0s: as soon as the last has ended).

    `isolation: record` lets each record finish by itself. `mini_batch` works in groups of `mini_batch` records, each
    of which waits for its slowest: unsafe, the policy of the incident.
    """

    max_offsets: PositiveInt = 1000
    trigger: Duration = timedelta(0)
    isolation: Literal["record", "mini_batch"] = "record"
    mini_batch: PositiveInt = 16


class Breaker(_Section):
    """When an unhealthy wiki is not asked, for each Python worker; the model is that of resilience4j.

    It opens when of the requests of the last `window` and those under way a share of `failure_rate` failed, and at
    least `minimum_requests` have ended. What fails is the upstream's fault: 5xx, 429, no answer in time, a broken
    connection, an answer with `Retry-After` or one that reports an outage. Events that have not begun are deferred
    then, and the main lane plans no batch before a probe of its own succeeds: one request after `open_for`, doubled
    each time up to `open_for_cap`, and not before the upstream's `Retry-After`, as far as the cap goes. Then
    `trial_requests` of each worker go first, and most of them have to succeed. It needs deferral: without that, and
    with `none`, there is no breaker, and an outage fills the ledger up to its bound.
    """

    policy: Literal["wait", "none"] = "wait"
    window: PositiveDuration = timedelta(seconds=30)
    minimum_requests: PositiveInt = 20
    failure_rate: PositiveShare = 0.5
    trial_requests: PositiveInt = 5
    open_for: PositiveDuration = timedelta(seconds=10)
    open_for_cap: PositiveDuration = timedelta(minutes=2)

    @model_validator(mode="after")
    def _cap_is_not_below(self) -> Self:
        if self.open_for_cap < self.open_for:
            raise ValueError(
                f"breaker.open_for_cap {self.open_for_cap.total_seconds():g} s is below breaker.open_for "
                f"{self.open_for.total_seconds():g} s: raise the cap, or begin with less"
            )
        return self


class SlowLane(_Section):
    """How deferred records are processed: `rounds` at once, each with `pages` pages and `concurrency` requests.

    A record has `deadline` in each round, and so has each of its requests if `fetch.request_timeout` is shorter. After
    `attempts` tries in all, that of the main lane included, it ends in an error event; between them it rests for
    `backoff`, doubled each time up to `backoff_cap`; longer where the upstream asks for it by `Retry-After`, but not
    beyond the cap. `max_in_flight_bytes` is to a round what that of `fetch` is to the main lane.
    """

    deadline: PositiveDuration = timedelta(minutes=2)
    concurrency: PositiveInt = 16
    pages: PositiveInt = 64
    rounds: PositiveInt = 1
    attempts: Annotated[int, Field(ge=2)] = 8
    backoff: Duration = timedelta(seconds=10)
    backoff_cap: Duration = timedelta(minutes=10)
    max_in_flight_bytes: Annotated[Size, Field(gt=0)] = 64 * MIB


class Deferral(_Section):
    """What happens to a record that is not done within `inline_allowance` of its own first request.

    `defer` writes it to `topic`, a compacted one, and its page's later events behind it; a slow lane processes them.
    Above `max_entries` or `max_bytes` the main lane waits before it plans the next batch. `none` is unsafe: a record
    then holds its micro-batch for `fetch.deadline`.
    """

    policy: Literal["defer", "none"] = "defer"
    topic: Topic = HTML.deferred_topic
    inline_allowance: PositiveDuration = timedelta(seconds=5)
    max_entries: PositiveInt = 1000
    max_bytes: Annotated[Size, Field(gt=0)] = 64 * MIB
    slow_lane: SlowLane = SlowLane()


class Metrics(_Section):
    """What the driver serves to Prometheus at `http://host:port/metrics`; off without a port, 0 takes a free one.

    The lag of the source is looked at every `lag_interval`. `rename` gives metrics other names, as a dashboard that
    is there already may want them; two of one name are refused. `on_collision: drop` reports only the first: unsafe.
    """

    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    host: Host = "127.0.0.1"
    lag_interval: PositiveDuration = timedelta(seconds=5)
    rename: dict[str, Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]] = {}
    on_collision: Literal["refuse", "drop"] = "refuse"


def ledger_topic_settings(max_record_bytes: int) -> dict[str, str]:
    """The settings that `deferral.topic` needs, also where an operator creates it: no event is forgotten before it is
    resolved.

    `max_record_bytes` is the largest record that is written there.
    """
    return {
        "cleanup.policy": "compact",
        "min.compaction.lag.ms": str(_MIN_COMPACTION_LAG // timedelta(milliseconds=1)),
        "segment.ms": str(_SEGMENT // timedelta(milliseconds=1)),
        "segment.bytes": str(max(_SEGMENT_BYTES, 2 * max_record_bytes)),
        "max.message.bytes": str(max_record_bytes),
    }


class PipelineConfig(_Section):
    """The whole configuration of one pipeline process."""

    job: JobName = "html-enrichment"
    source: Source
    sink: Sink
    mediawiki: MediaWiki
    checkpoint: Annotated[str, AfterValidator(require_something)]
    fetch: Fetch = Fetch()
    content: Content = Content()
    content_limit: ContentLimit = ContentLimit()
    record_limit: RecordLimit = RecordLimit()
    claim_check: ClaimCheck = ClaimCheck()
    batch: Batch = Batch()
    deferral: Deferral = Deferral()
    breaker: Breaker = Breaker()
    metrics: Metrics = Metrics()
    # A batch that takes longer ends the process, so that its supervisor sees a failure and not silence.
    stall_timeout: PositiveDuration = timedelta(minutes=10)
    # Events that have begun and not ended after this time are deferred, as a backstop. Default: from stall_timeout.
    batch_budget: PositiveDuration | None = None
    # For how long the running batch and the slow rounds may go on after SIGTERM. Default: from the inline allowance.
    stop_timeout: PositiveDuration | None = None
    # Bytes of finished records that may wait for the sink in one Python worker before fetching pauses.
    result_buffer: Annotated[Size, Field(ge=0)] = 64 * MIB

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_the_job(cls, data: Any) -> Any:
        """Else a job would write into the topics of another by default."""
        places = PLACES.get(str(data.get("job"))) if isinstance(data, Mapping) else None
        if places is None or places is HTML:
            return data
        filled = dict(data)
        for (section, key), value in _places(places).items():
            given = filled.get(section, {})
            if isinstance(given, Mapping):
                filled[section] = {key: value} | dict(given)
            elif isinstance(given, _Section) and key not in given.model_fields_set:
                filled[section] = given.model_copy(update={key: value})
        return filled

    @model_validator(mode="after")
    def _allowance_within_stall_timeout(self) -> Self:
        allowance = self.deferral.inline_allowance
        if self.deferral.policy == "defer" and allowance >= self.stall_timeout:
            raise ValueError(
                f"deferral.inline_allowance {allowance.total_seconds():g} s is not below stall_timeout "
                f"{self.stall_timeout.total_seconds():g} s: a slow record would end the process before it is deferred"
            )
        return self

    @model_validator(mode="after")
    def _topics_differ(self) -> Self:
        """Else the job would feed on what it writes."""
        topics = {
            "source.topic": self.source.topic,
            "sink.topic": self.sink.topic,
            "sink.error_topic": self.sink.error_topic,
            "deferral.topic": self.deferral.topic,
        }
        for (one, topic), (other, same) in combinations(topics.items(), 2):
            elsewhere = one == "source.topic" and self.source.bootstrap_servers != self.sink.bootstrap_servers
            if topic == same and not elsewhere:
                raise ValueError(f"{one} and {other} are both {topic!r}: give each a topic of its own")
        return self

    @model_validator(mode="after")
    def _budget_within_stall_timeout(self) -> Self:
        allowance, stall = self.deferral.inline_allowance, self.stall_timeout
        if self.batch_budget is None or self.deferral.policy != "defer":
            return self
        if not allowance < self.batch_budget < stall:
            raise ValueError(
                f"batch_budget {self.batch_budget.total_seconds():g} s is not between deferral.inline_allowance "
                f"{allowance.total_seconds():g} s and stall_timeout {stall.total_seconds():g} s: leave it out, or "
                f"write {(allowance + stall).total_seconds() / 2:g}s"
            )
        return self

    @model_validator(mode="after")
    def _time_to_stop(self) -> Self:
        allowance = self.deferral.inline_allowance
        needed = allowance + _TIME_TO_WRITE
        if self.stop_timeout is not None and self.deferral.policy == "defer" and self.stop_timeout < needed:
            raise ValueError(
                f"stop_timeout {self.stop_timeout.total_seconds():g} s is too short: slow records have "
                f"deferral.inline_allowance {allowance.total_seconds():g} s before they are deferred, and a batch "
                f"needs {_TIME_TO_WRITE.total_seconds():g} s to be written; write at least {needed.total_seconds():g}s"
            )
        return self

    @property
    def effective_batch_budget(self) -> timedelta:
        """As written, else midway between the allowance and the end of a batch that takes too long."""
        if self.batch_budget is not None:
            return self.batch_budget
        return (min(self.deferral.inline_allowance, self.stall_timeout) + self.stall_timeout) / 2

    @property
    def effective_stop_timeout(self) -> timedelta:
        """As written, else the time that a record and the writing of a batch need, and as much again to write."""
        if self.stop_timeout is not None:
            return self.stop_timeout
        return self.deferral.inline_allowance + 2 * _TIME_TO_WRITE

    @field_serializer("batch_budget", "stop_timeout", mode="wrap")
    def _as_effective(
        self, _written: timedelta | None, handler: SerializerFunctionWrapHandler, info: FieldSerializationInfo
    ) -> Any:
        """What is shown, stored and compared is what holds."""
        return handler(getattr(self, f"effective_{info.field_name}"))
