"""Where events come from and go to, and where content is fetched."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from located_config.duration import Duration, PositiveDuration
from located_config.size import Size
from pipeline.config.section import KIB, MIB, Host, HttpUrl, Section, Servers, Topic, require_contact, require_something
from pipeline.config.state_section import Deduplicate
from pipeline.jobs.names import FIRST, other_defaults
from pipeline.records.passed_headers import is_own

HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
# Without effect under another `read`.
_ALIGNED = frozenset({"slice", "idle_after", "late", "lateness"})


class Source(Section):
    """Where source events come from: one topic, or several, of one cluster."""

    bootstrap_servers: Servers = Field(
        description="Brokers of the cluster that the events come from, `host:port`, several with commas between them.",
        examples=["kafka-1:9092,kafka-2:9092"],
    )
    topic: Topic = Field(
        default=FIRST.source_topics[0],
        description="Topic of source events, for a job that reads one topic. The default depends on the job.",
    )
    topics: tuple[Topic, ...] = Field(
        default=(),
        description="Topics of source events, for a job that reads several; instead of `topic`. Which topics a "
        "job reads is fixed by its checkpoint.",
        examples=[["mediawiki.page_change.v1", "mediawiki.page_links_change.v1"]],
    )

    pass_headers: tuple[HeaderName, ...] = Field(
        default=(),
        description="Names of the headers of a source record that its output and its error event have as well. Not the "
        "names that the pipeline itself writes. Default: none.",
        examples=[["traceparent", "tracestate"]],
    )
    pass_headers_bytes: Annotated[Size, Field(ge=0, le=64 * KIB)] = Field(
        default=4 * KIB,
        description="Bytes of names and values that the headers of one record may pass on, at most 64 KiB; those that "
        "do not fit, in the order of `pass_headers`, are left out.",
    )
    read: Literal["proportional", "aligned"] = Field(
        default="proportional",
        description="How a micro-batch is shared among partitions. `proportional`: by their number of waiting events, "
        "as Spark's own source does. `aligned`: by event time, the timestamp of the record, so that a job that "
        "has a watermark loses no event while it catches up; `proportional` is unsafe for such a job."
        f"{other_defaults('read')}",
    )
    slice: PositiveDuration = Field(
        default=timedelta(seconds=30),
        description="Event time that a micro-batch may span, under `read: aligned`. `batch.max_offsets` bounds it as "
        "well. While a backlog is read, it is at least five times what the batch before took.",
    )
    idle_after: Duration = Field(
        default=timedelta(seconds=10),
        description="Time without a new event after which a partition holds the others back no longer, under `read: "
        "aligned`. If it is shorter than a producer's pauses, that producer's events may come too late.",
    )

    late: Literal["process", "lapse"] = Field(
        default="process",
        description="What happens to an event that is more than `lateness` behind the latest event time read before "
        "its micro-batch, under `read: aligned`. `process`: it is processed as any other. `lapse`: a lapsed_action "
        "event in `sink.lapsed_topic` takes its place, so that no watermark drops it in silence.",
    )
    lateness: Duration = Field(
        default=timedelta(seconds=10),
        description="How far an event may be behind under `late: lapse`. With a watermark in the job: its delay.",
    )
    deduplicate: Deduplicate | None = Field(
        default=None,
        description="Which source events are dropped as repeats. With `within` a duration and `read: proportional` it "
        "is unsafe: while the job catches up, first occurrences are dropped as well. Default: none are.",
    )

    @field_validator("pass_headers")
    @classmethod
    def _not_of_the_pipeline(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if reserved := [name for name in names if is_own(name)]:
            raise ValueError(f"{reserved[0]} is a header that the pipeline itself writes: remove it")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice[0]} stands there twice: remove one")
        return names

    # Of several, `topic` is the first: what can do with one topic takes that.
    @property
    def all_topics(self) -> tuple[str, ...]:
        """The topics that the job reads, one or several."""
        return self.topics or (self.topic,)

    @model_validator(mode="before")
    @classmethod
    def _one_or_several(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not data.get("topics"):
            return data
        if "topic" in data:
            raise ValueError("source.topic and source.topics are both given: write one of them")
        topics = data["topics"]
        return {**data, "topic": topics[0]} if isinstance(topics, list | tuple) else data

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        twice = sorted({topic for topic in self.topics if self.topics.count(topic) > 1})
        if twice:
            raise ValueError(f"source.topics names {', '.join(twice)} twice: name each topic once")
        return self

    @model_validator(mode="after")
    def _aligned_keys(self) -> Self:
        unused = sorted(_ALIGNED & self.model_fields_set)
        if self.read != "aligned" and unused:
            raise ValueError(
                f"source.{unused[0]} is for source.read: aligned, and read is {self.read}: remove it, or write "
                "read: aligned"
            )
        return self

    @model_serializer(mode="wrap")
    def _as_given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Of `topic` and `topics`, only the one that is effective is shown, stored and compared."""
        fields: dict[str, Any] = handler(self)
        fields.pop("topic" if self.topics else "topics", None)
        if self.read != "aligned":
            fields = {key: value for key, value in fields.items() if key not in _ALIGNED}
        return fields


class Sink(Section):
    """Where enriched events and error events go."""

    bootstrap_servers: Servers = Field(
        description="Brokers of the cluster that enriched events and error events go to, `host:port`, several "
        "with commas between them.",
        examples=["kafka-1:9092,kafka-2:9092"],
    )
    topic: Topic = Field(
        default=FIRST.output_topic, description=f"Topic of enriched events.{other_defaults('output_topic')}"
    )
    error_topic: Topic = Field(
        default=FIRST.error_topic, description=f"Topic of error events.{other_defaults('error_topic')}"
    )
    fetch_failure_topic: Topic | None = Field(
        default=FIRST.fetch_failure_topic,
        description="Topic of fetch_failure events, for a job that makes them where a fetch fails."
        f"{other_defaults('fetch_failure_topic')} The other jobs make error events.",
    )
    lapsed_topic: Topic | None = Field(
        default=FIRST.lapsed_topic,
        description="Topic of lapsed_action events, under `source.late: lapse`. Default: the error topic with "
        f"`.lapsed` in the place of `.error`.{other_defaults('lapsed_topic')}",
    )
    inconsistency_topic: Topic | None = Field(
        default=FIRST.inconsistency_topic,
        description="Topic of state_inconsistency events, for a job that makes them."
        f"{other_defaults('inconsistency_topic')}",
    )
    max_request_size: Annotated[Size, Field(alias="max.request.size", gt=0)] = Field(
        default=MIB, description="The producer's own setting: the largest record, and request, that it sends, in bytes."
    )
    delivery_timeout: Annotated[PositiveDuration, Field(ge=timedelta(seconds=1))] | None = Field(
        default=None,
        description="Time after which the producer gives up on a record and goes on with the next ones. Default: "
        "none, and `stall_timeout` ends the process. A value is unsafe: later events of a page may be"
        " produced before an earlier one.",
    )

    @property
    def error_topics(self) -> tuple[str, ...]:
        """The topics that an event without output ends in: the error topic, and the job's for failed fetches."""
        return (self.error_topic,) if self.fetch_failure_topic is None else (self.error_topic, self.fetch_failure_topic)

    @property
    def effective_lapsed_topic(self) -> str:
        """As written, else named as the error topic is."""
        return self.lapsed_topic or f"{self.error_topic.removesuffix('.error')}.lapsed"

    @field_serializer("lapsed_topic")
    def _as_effective(self, _written: str | None) -> str:
        return self.effective_lapsed_topic


class MediaWiki(Section):
    """Which host answers for which wiki. An event names a wiki, never a host."""

    endpoint: HttpUrl = Field(
        description="URL, without a path, that the requests for all wikis go to; the wiki's host is sent in the "
        "Host header.",
        examples=["http://mw-api-int:4680"],
    )
    contact: Annotated[str, AfterValidator(require_contact)] | None = Field(
        default=None,
        description="Mail address or URL of the job's operators, for the operators of the wikis. It is sent in "
        "the User-Agent, as Wikimedia's policy requires of every client. Default: none; the start "
        "then logs a warning, unless `endpoint` is on this machine.",
        examples=["https://wikitech.wikimedia.org/wiki/My_team"],
    )
    wikis: dict[str, Host] = Field(
        default={"enwiki": "en.wikipedia.org"},
        min_length=1,
        description="Host of each wiki by its database name. Not used with `wikis_file`.",
    )
    wikis_file: Annotated[str, AfterValidator(require_something)] | None = Field(
        default=None,
        description="Path of a YAML file with the mapping `wikis`, a line for each wiki. Each Python worker reads"
        " it, and again a second after a change. Replace it by renaming another file. Default: no file.",
    )
    unknown_wiki: Literal["error", "stop"] = Field(
        default="error",
        description="What happens to an event of a wiki that the table does not have. `error`: it becomes the "
        "error event `unknown_wiki`. `stop`: the job ends before the batch commits.",
    )
