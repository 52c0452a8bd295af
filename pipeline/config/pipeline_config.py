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
    Field,
    FieldSerializationInfo,
    SerializerFunctionWrapHandler,
    field_serializer,
    model_validator,
)

from located_config.duration import PositiveDuration
from located_config.size import Size
from pipeline.config.batch_section import Batch, Commit
from pipeline.config.breaker_section import Breaker
from pipeline.config.deferral_section import Deferral, SlowLaneConfig, ledger_topic_settings
from pipeline.config.endpoint_sections import MediaWiki, Sink, Source
from pipeline.config.fetch_section import Content, Fetch, ParentCache, RetryBudgetConfig, RetryUnknown
from pipeline.config.heap_dump_section import HeapDumps
from pipeline.config.kafka_section import Kafka
from pipeline.config.limits_section import ClaimCheck, ContentLimit, ErrorEvents, RecordLimit
from pipeline.config.metrics_section import Metrics
from pipeline.config.rdf_section import Rdf
from pipeline.config.section import MIB, Host, HttpUrl, Section, Servers, Topic, require_something
from pipeline.config.state_section import Count, Deduplicate, State
from pipeline.config.updater_section import Updater
from pipeline.jobs.names import FIRST, FIRST_JOB, JOB_DEFAULTS, JobDefaults, JobName

__all__ = [
    "MIB",
    "Batch",
    "Breaker",
    "ClaimCheck",
    "Commit",
    "Content",
    "ContentLimit",
    "Count",
    "Deduplicate",
    "Deferral",
    "ErrorEvents",
    "Fetch",
    "HeapDumps",
    "Host",
    "HttpUrl",
    "JobName",
    "Kafka",
    "MediaWiki",
    "Metrics",
    "ParentCache",
    "PipelineConfig",
    "RecordLimit",
    "RetryBudgetConfig",
    "RetryUnknown",
    "Servers",
    "Sink",
    "SlowLaneConfig",
    "Source",
    "State",
    "Topic",
    "ledger_topic_settings",
]

# Two ways to say one thing.
_SOURCE_TOPICS = frozenset({"topic", "topics"})
# What only some jobs write.
_TOPICS_OF_SOME = ("fetch_failure_topic", "lapsed_topic", "inconsistency_topic")
# What a batch needs besides its slow records: to hand on, have acknowledged and commit what it has.
_TIME_TO_WRITE = timedelta(seconds=10)


def _of_job(job: JobDefaults) -> Mapping[tuple[str, str], str | int | tuple[str, ...]]:
    """A job's defaults for keys that the configuration leaves out. Those of the first job are in the sections."""
    has_several = len(job.source_topics) > 1
    return {
        ("source", "topics" if has_several else "topic"): job.source_topics if has_several else job.source_topics[0],
        ("sink", "topic"): job.output_topic,
        ("sink", "error_topic"): job.error_topic,
        ("claim_check", "prefix"): job.claim_prefix,
        ("deferral", "topic"): job.deferred_topic,
        **{("sink", key): topic for key in _TOPICS_OF_SOME if (topic := getattr(job, key)) is not None},
        **({} if job.concurrency == FIRST.concurrency else {("fetch", "concurrency"): job.concurrency}),
        **({} if job.read == "proportional" else {("source", "read"): job.read}),
        **({} if job.defers else {("deferral", "policy"): "none"}),
    }


class PipelineConfig(Section):
    """The whole configuration of one pipeline process."""

    job: JobName = Field(
        default=FIRST_JOB,
        description="Name of the job. The defaults of topics and of the claim checks' prefix depend on it.",
    )
    source: Source = Field(description="Where source events come from.")
    sink: Sink = Field(description="Where enriched events and error events go.")
    kafka: Kafka = Field(default=Kafka(), description="How the brokers of source and sink are reached.")
    mediawiki: MediaWiki = Field(description="Which host answers for which wiki.")
    checkpoint: Annotated[str, AfterValidator(require_something)] = Field(
        description="Directory or `s3a://` place of Spark's checkpoint. It belongs to one job.",
        examples=[f"s3a://checkpoints/{FIRST_JOB}"],
    )
    missing_checkpoint: Literal["refuse", "earliest"] = Field(
        default="refuse",
        description="What happens to a start without `--new` that finds no checkpoint. `refuse` refuses it, and names "
        "the choices. `earliest` is unsafe: the job begins at the beginning of its topic.",
    )
    fetch: Fetch = Field(default=Fetch(), description="How content is fetched.")
    parent_cache: ParentCache = Field(
        default=ParentCache(), description="Whether `html-enrichment` asks for each parent revision."
    )
    content: Content = Field(default=Content(), description="Which content is requested from the Action API.")
    content_limit: ContentLimit = Field(default=ContentLimit(), description="Which content is too large for a record.")
    record_limit: RecordLimit = Field(
        default=RecordLimit(), description="Whether a record is measured before it is produced."
    )
    errors: ErrorEvents = Field(default=ErrorEvents(), description="What an error event carries.")
    claim_check: ClaimCheck = Field(
        default=ClaimCheck(), description="Where payloads that are too large for a record go."
    )
    batch: Batch = Field(default=Batch(), description="How much a micro-batch takes, and how often one is planned.")
    commit: Commit = Field(
        default=Commit(), description="What happens when Spark's writes to the checkpoint take long."
    )
    deferral: Deferral = Field(default=Deferral(), description="What happens to a record that takes long.")
    breaker: Breaker = Field(
        default=Breaker(), description="When requests to an unhealthy wiki, or to the whole endpoint, stop."
    )
    count: Count = Field(default=Count(), description="How `edit-counts` counts.")
    rdf: Rdf = Field(
        default=Rdf(), description="Which Wikibase the streaming updater reads, and how it cuts mutations."
    )
    updater: Updater = Field(default=Updater(), description="How `rdf-decide` puts the events of an entity in order.")
    state: State = Field(default=State(), description="Where the state of the job lies, if it has some.")
    heap_dump: HeapDumps = Field(
        default=HeapDumps(), description="What is written when the driver's JVM runs out of memory."
    )
    metrics: Metrics = Field(default=Metrics(), description="What the driver serves to Prometheus.")
    stall_timeout: PositiveDuration = Field(
        default=timedelta(minutes=10),
        description="Time that a micro-batch may take, that planning the next one may take after its commit, and that "
        "a start waits for the brokers; then the process ends with exit code 1, so that its supervisor sees a failure.",
    )
    batch_budget: PositiveDuration | None = Field(
        default=None,
        description="Age of a micro-batch at which its unfinished records are deferred. Default: midway between "
        "`deferral.inline_allowance` and `stall_timeout`.",
    )
    stop_timeout: PositiveDuration | None = Field(
        default=None,
        description="Time that the micro-batch under way and the slow rounds have after SIGTERM. Default: "
        "`deferral.inline_allowance` plus 20 s.",
    )
    result_buffer: Annotated[Size, Field(ge=0)] = Field(
        default=64 * MIB,
        description="Bytes of finished records that may wait for the sink in one Python worker before fetching pauses.",
    )

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_the_job(cls, data: Any) -> Any:
        """Without them a job would write into another job's topics by default."""
        job = str(data.get("job", FIRST_JOB)) if isinstance(data, Mapping) else None
        if job is None or job == FIRST_JOB or job not in JOB_DEFAULTS:
            return data
        filled = dict(data)
        for (section, key), value in _of_job(JOB_DEFAULTS[job]).items():
            section_data = filled.get(section, {})
            set_ = (
                section_data.keys()
                if isinstance(section_data, Mapping)
                else getattr(section_data, "model_fields_set", {key})
            )
            same = _SOURCE_TOPICS if section == "source" and key in _SOURCE_TOPICS else {key}
            if same & set(set_):
                continue
            if isinstance(section_data, Mapping):
                filled[section] = {key: value} | dict(section_data)
            elif isinstance(section_data, Section):
                first_topic = {"topic": value[0]} if isinstance(value, tuple) else {}
                filled[section] = section_data.model_copy(update={key: value, **first_topic})
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
    def _countable(self) -> Self:
        if self.job != "edit-counts":
            return self
        source = self.source
        if source.deduplicate is not None:
            raise ValueError("source.deduplicate: edit-counts has a state of its own, and counts each event; remove it")
        if source.read == "aligned" and source.late == "process":
            raise ValueError("source.late is process: edit-counts has a watermark that drops them; write lapse")
        if source.read == "aligned" and source.lateness > self.count.delay:
            raise ValueError(
                f"source.lateness {source.lateness.total_seconds():g} s is more than count.delay "
                f"{self.count.delay.total_seconds():g} s: what is between the two would be dropped; write no more"
            )
        return self

    @model_validator(mode="after")
    def _decidable(self) -> Self:
        if self.job != "rdf-decide":
            return self
        source = self.source
        refused = (
            ("source.read", source.read != "aligned", "its watermark would drop events; write aligned"),
            ("source.late", source.late != "process", "updater.reorder says what is late; write process"),
            ("source.deduplicate", source.deduplicate is not None, "repeats change no entity; remove it"),
            ("source.pass_headers", bool(source.pass_headers), "events wait without headers; remove it"),
            ("deferral.policy", self.deferral.policy != "none", "it fetches nothing; write none"),
            ("state.provider", self.state.provider != "rocksdb", "its timers need it; write rocksdb"),
        )
        for key, is_refused, reason in refused:
            if is_refused:
                raise ValueError(f"{key}: not for rdf-decide, as {reason}")
        return self

    @property
    def lapses(self) -> bool:
        """Whether the job writes lapsed_action events."""
        return self.source.late == "lapse" or JOB_DEFAULTS[self.job].lapsed_topic is not None

    @property
    def kept_bytes(self) -> int:
        """How much the job keeps of revisions on each host; 0 for one that keeps none."""
        if self.job == "html-enrichment" and self.parent_cache.policy == "last":
            return self.parent_cache.max_bytes
        return self.rdf.keep_last if self.job == "rdf-resolve" else 0

    @property
    def written_topics(self) -> tuple[tuple[str, str], ...]:
        """The topics that the job writes to, at the sink's brokers, each with its key in the configuration."""
        return (
            ("sink.topic", self.sink.topic),
            ("sink.error_topic", self.sink.error_topic),
            *((("sink.fetch_failure_topic", topic),) if (topic := self.sink.fetch_failure_topic) is not None else ()),
            ("sink.lapsed_topic", self.sink.effective_lapsed_topic),
            *((("sink.inconsistency_topic", topic),) if (topic := self.sink.inconsistency_topic) is not None else ()),
            ("deferral.topic", self.deferral.topic),
        )

    @model_validator(mode="after")
    def _writes_its_topics(self) -> Self:
        if self.sink.fetch_failure_topic is not None and JOB_DEFAULTS[self.job].fetch_failure_topic is None:
            raise ValueError(f"sink.fetch_failure_topic: {self.job} makes no fetch_failure events; remove it")
        makes_inconsistencies = JOB_DEFAULTS[self.job].inconsistency_topic is not None
        if makes_inconsistencies != (self.sink.inconsistency_topic is not None):
            remedy = "name one" if makes_inconsistencies else "remove it"
            makes = "makes" if makes_inconsistencies else "makes no"
            raise ValueError(f"sink.inconsistency_topic: {self.job} {makes} state_inconsistency events; {remedy}")
        return self

    @model_validator(mode="after")
    def _topics_differ(self) -> Self:
        """A job must not read the topics that it writes."""
        source = "source.topics" if self.source.topics else "source.topic"
        topics = [(source, topic) for topic in self.source.all_topics]
        topics += self.written_topics
        for (first_key, topic), (second_key, other_topic) in combinations(topics, 2):
            is_elsewhere = first_key == source and self.source.bootstrap_servers != self.sink.bootstrap_servers
            if topic == other_topic and not is_elsewhere:
                raise ValueError(f"{first_key} and {second_key} are both {topic!r}: give each a topic of its own")
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

    @property
    def effective_commit_timeout(self) -> timedelta:
        """As written, else as long as a micro-batch may take."""
        return self.stall_timeout if self.commit.timeout is None else self.commit.timeout

    @field_serializer("batch_budget", "stop_timeout", mode="wrap")
    def _as_effective(
        self, _written: timedelta | None, handler: SerializerFunctionWrapHandler, info: FieldSerializationInfo
    ) -> Any:
        """The effective values are what is shown, stored and compared."""
        return handler(getattr(self, f"effective_{info.field_name}"))
