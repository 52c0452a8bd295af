"""Policies that exist only because an incident had them; a pipeline runs with one only under `--allow-unsafe`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Generic, TypeVar

from pydantic import BaseModel

from pipeline.config.apply_config import ONE_MUTATION, ApplyConfig
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.jobs.names import JOB_DEFAULTS

C = TypeVar("C", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Unsafe(Generic[C]):
    """A setting, and what comes of it. `holds` is whether a configuration has it."""

    key: str
    value: str
    effect: str
    holds: Callable[[C], bool]

    @property
    def text(self) -> str:
        """The setting as in a configuration: `key: value`."""
        return f"{self.key}: {self.value}"


UNSAFE: tuple[Unsafe[PipelineConfig], ...] = (
    Unsafe(
        "content_limit.measure",
        "content_length",
        "The limit believes the Content-Length header. Of a gzip answer that is the compressed length, so a page of "
        "tens of megabytes passes a limit of 18 MiB (T421216).",
        lambda config: config.content_limit.measure == "content_length",
    ),
    Unsafe(
        "record_limit.policy",
        "none",
        "Only the producer measures the record, and its refusal ends the query. The restart replays the same offsets "
        "and meets the same record, for ever (T421216).",
        lambda config: config.record_limit.policy == "none",
    ),
    Unsafe(
        "errors.payload",
        "full_event",
        "An error event carries the event that failed, with what was fetched for it by then. It can be too large for "
        "the sink itself, so the query ends at the error event, and again after each restart (T421216).",
        lambda config: config.errors.payload == "full_event",
    ),
    Unsafe(
        "fetch.body_limit",
        "content_length",
        "A body is read to its end if its Content-Length header is below the limit. A gzip answer of a few hundred "
        "kilobytes can be tens of megabytes in memory (T421216).",
        lambda config: config.fetch.body_limit == "content_length",
    ),
    Unsafe(
        "fetch.max_in_flight_bytes",
        "none",
        "Only the number of requests bounds how much is in memory. When large pages come together, the process takes "
        "more than its container has, and is killed (T421216).",
        lambda config: config.fetch.max_in_flight_bytes == "none",
    ),
    Unsafe(
        "fetch.connections",
        "per_request",
        "Each request takes a place at the server's listener for itself. When places are few, requests are refused, "
        "and those of a process that has died keep its successor out.",
        lambda config: config.fetch.connections == "per_request",
    ),
    Unsafe(
        "fetch.retried_statuses",
        "504",
        "A gateway's timeout says that the upstream is still at work. Each retry makes it begin once more, so load "
        "rises as success falls (T421216).",
        lambda config: HTTPStatus.GATEWAY_TIMEOUT in config.fetch.retried_statuses,
    ),
    Unsafe(
        "fetch.retry_budget",
        "none",
        "Every record may use all its requests, however many others fail at the same time.",
        lambda config: config.fetch.retry_budget == "none",
    ),
    Unsafe(
        "fetch.on_failure",
        "fail",
        "One fetch that fails ends the query. The restart reads the same offsets and meets the same failure: the job "
        "is up for a few seconds at a time, and gets no further.",
        lambda config: config.fetch.on_failure == "fail",
    ),
    Unsafe(
        "fetch.retry_unknown",
        "any",
        "Each event of a deleted revision waits in its micro-batch, and asks in vain, however old it is. While a job "
        "catches up, most groups of records hold one (incident of 2023-09-28).",
        lambda config: config.fetch.retry_unknown is not None,
    ),
    Unsafe(
        "batch.isolation",
        "mini_batch",
        "A group of records waits for its slowest, and the next group for the group.",
        lambda config: config.batch.isolation == "mini_batch",
    ),
    Unsafe(
        "batch.page_order",
        "one_at_a_time",
        "A page has one fetch after the other, however much of the traffic it takes, and its micro-batch lasts as long "
        "(T421216).",
        lambda config: config.batch.page_order == "one_at_a_time",
    ),
    Unsafe(
        "batch.reuse",
        "cached",
        "Spark keeps every micro-batch, as none is released: memory fills up, then the local disk, and nothing fails "
        "until one of them is full.",
        lambda config: config.batch.reuse == "cached",
    ),
    Unsafe(
        "commit.policy",
        "wait",
        "A checkpoint that takes minutes to write is not logged, and the job waits for it as long as the client of the "
        "store does: it is up, and nothing is committed (T421216).",
        lambda config: config.commit.policy == "wait",
    ),
    Unsafe(
        "deferral.policy",
        "none",
        "A record that takes long holds its micro-batch, and nothing commits meanwhile.",
        lambda config: config.deferral.policy == "none" and JOB_DEFAULTS[config.job].defers,
    ),
    Unsafe(
        "sink.delivery_timeout",
        "any",
        "The producer gives up on a record and still sends the later ones of its page; the replay brings the first "
        "behind them. Kafka's default is 2 min, so a longer outage of the broker breaks the order of pages.",
        lambda config: config.sink.delivery_timeout is not None,
    ),
    Unsafe(
        "source.read",
        "proportional",
        "With `source.deduplicate`, and in `edit-counts`. One burst, or a topic with few events, moves the watermark "
        "ahead of the rest of a backlog, which Spark then drops as too late: the job is up, its lag falls, and events "
        "are lost. Topics of `edit-counts` are a stream each, and one without an event keeps all windows in the state. "
        "Read aligned, none is lost and none stays.",
        lambda config: has_watermark(config) and config.source.read == "proportional",
    ),
    Unsafe(
        "source.deduplicate.by",
        "event",
        "The state holds every event as a whole, for as long as it is remembered.",
        lambda config: config.source.deduplicate is not None and config.source.deduplicate.by == "event",
    ),
    Unsafe(
        "source.deduplicate.within",
        "ever",
        "The state grows with each event, for ever: so do the time of a batch and the checkpoint, until the memory or "
        "the disk is full. The restart loads it all again.",
        lambda config: config.source.deduplicate is not None and config.source.deduplicate.within == "ever",
    ),
    Unsafe(
        "updater.reorder",
        "0s",
        "Events of several topics are decided in the order in which they are read. A revision that is read behind the "
        "deletion of its page is left out, or makes an entity that is gone, and the store stays wrong.",
        lambda config: config.job == "rdf-decide" and not config.updater.reorder,
    ),
    Unsafe(
        "missing_checkpoint",
        "earliest",
        "A job that has lost its checkpoint begins at the beginning of its topic, and emits again all that it has ever "
        "emitted (T421216).",
        lambda config: config.missing_checkpoint == "earliest",
    ),
    Unsafe(
        "metrics.on_collision",
        "drop",
        "Of two metrics with one name only the first is reported, silently.",
        lambda config: config.metrics.on_collision == "drop",
    ),
)


UNSAFE_OF_APPLY: tuple[Unsafe[ApplyConfig], ...] = (
    Unsafe(
        "apply.batch_triples",
        "1",
        "Each mutation has a request and a transaction of its own: after an outage the backlog takes several times as "
        "long, and it grows where edits come faster.",
        lambda config: config.apply.batch_triples == ONE_MUTATION,
    ),
    Unsafe(
        "apply.offset",
        "kafka",
        "The offset is not part of the store. When the store is restored from an older copy, the mutations since then "
        "are never read again, and it stays wrong without an error.",
        lambda config: config.apply.offset == "kafka",
    ),
    Unsafe(
        "apply.unlinked",
        "delete",
        "References and values that other entities link as well are deleted, as the entity that links them no more "
        "does not know of the others.",
        lambda config: config.apply.unlinked == "delete",
    ),
    Unsafe(
        "apply.deletes",
        "ignore",
        "An entity that was deleted stays in the store for ever.",
        lambda config: config.apply.deletes == "ignore",
    ),
    Unsafe(
        "apply.sitelinks",
        "as_sent",
        "A merge moves a sitelink from one entity to another. When the mutation that adds it comes before the one that "
        "deletes it, the second one deletes what the first has written.",
        lambda config: config.apply.sitelinks == "as_sent",
    ),
)


def has_watermark(config: PipelineConfig) -> bool:
    """Whether the job has a watermark, and so loses what comes behind it."""
    deduplicate = config.source.deduplicate
    return config.job == "edit-counts" or (deduplicate is not None and deduplicate.within != "ever")


def unsafe_settings(config: PipelineConfig) -> list[str]:
    """The effective settings of a job that are unsafe, as `key: value`."""
    return _settings_of(config, UNSAFE)


def require_safe(unsafe: Sequence[str]) -> None:
    """Raises RefusedError where there are unsafe settings."""
    if unsafe:
        raise RefusedError(
            f"unsafe: {', '.join(unsafe)}", hint="each reproduces an incident; --allow-unsafe accepts them"
        )


def unsafe_apply_settings(config: ApplyConfig) -> list[str]:
    """The effective settings of `apply` that are unsafe, as `key: value`."""
    return _settings_of(config, UNSAFE_OF_APPLY)


def _settings_of(config: C, settings: tuple[Unsafe[C], ...]) -> list[str]:
    return [setting.text for setting in settings if setting.holds(config)]
