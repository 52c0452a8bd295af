"""The data of an ended arm: its delivery audit, latencies, and the pages that a fault matched."""

import functools
import itertools
from collections.abc import Collection as Several
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from devkit.observe.audit.arrivals import Arrival, Position, read_topic
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.claim_check import resolve_claim
from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.audit.wrong_outcomes import WrongOutcome
from devkit.observe.checkpoint import OffsetRange, Offsets
from devkit.observe.expected_output.truth import JobTruth
from devkit.observe.kafka.deferrals import DeferredEntries
from devkit.observe.kafka.error_events import ErrorEvents
from devkit.observe.latency import Latencies, Page, latencies
from devkit.programs.program_topics import ProgramTopics
from devkit.stack.parts.mock_api import MockApi
from devkit.traffic.life import REVISIONS_PER_PAGE
from mockapi.client.journal_counts import JournalTotals
from mockapi.rules.model import Rule
from pipeline.kafka.record_quirks import record_time_ms

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True)
class Ended:
    """The state at an arm's end: committed offsets, deferrals, the failed batch, the time and the replays.

    `names_missing` reports events that were not committed by name, as no commit is observable.
    """

    committed: Offsets
    deferrals: DeferredEntries
    failed: OffsetRange | None
    ended_ms: int
    replays: Replays = NO_REPLAYS
    names_missing: bool = False


@dataclass(frozen=True)
class Collection:
    """`past_failed_batch` is None if no batch failed. `unmet` has the events that the audit counts as a problem."""

    audit: Audit
    past_failed_batch: int | None
    latencies: Latencies
    error_events: tuple[ErrorEvents, ...] = ()
    unmet: tuple[WrongOutcome, ...] = ()


def collection(
    events: Sequence[SourceEvent],
    ended: Ended,
    *,
    bootstrap: str,
    topics: ProgramTopics,
    truth: JobTruth | None,
    client: "S3Client",
    pages_matched: set[Page] | None,
    left_out: Several[Position] = (),
    grown: Several[str] = (),
    jobs_beside: Several[str] = (),
) -> Collection:
    """Read the topics and compare the emitted records with the expected ones.

    Records of the source positions `left_out` and error events of `jobs_beside` do not count. `grown` are topics that
    got more partitions. Raises StackError.
    """
    audit = delivery_audit(
        events,
        bootstrap=bootstrap,
        topics=topics,
        truth=truth,
        client=client,
        left_out=left_out,
        grown=grown,
        jobs_beside=jobs_beside,
    )
    published_ms = {event.position: event.published_ms for event in events if event.published_ms is not None}
    if not published_ms:
        published_ms = {
            (record.topic, record.partition, record.offset): time_ms
            for topic in topics.sources
            for record in read_topic(bootstrap, topic)
            if (time_ms := record_time_ms(record.timestamp_ms)) is not None
        }
    unmet: list[WrongOutcome] = []
    dropped = audit.dropped(ended.committed, ended.deferrals)
    return Collection(
        audit=audit.finish(
            ended.committed,
            ended.deferrals,
            ended.replays,
            lambda *found: unmet.append(found),
            names_missing=ended.names_missing,
        ),
        past_failed_batch=audit.past(ended.failed.end) if ended.failed else None,
        latencies=latencies(
            [event for event in events if event.position not in dropped],
            published_ms=published_ms,
            emitted_ms=audit.emitted_ms(),
            ended_ms=ended.ended_ms,
            pages_matched=pages_matched,
        ),
        error_events=audit.error_events.kinds(),
        unmet=tuple(unmet),
    )


def delivery_audit(
    events: Sequence[SourceEvent],
    *,
    bootstrap: str,
    topics: ProgramTopics,
    truth: JobTruth | None,
    client: "S3Client",
    left_out: Several[Position] = (),
    grown: Several[str] = (),
    jobs_beside: Several[str] = (),
) -> DeliveryAudit:
    """The audit of all records that are in the topics now, without error events of `jobs_beside`. Raises StackError."""
    audit = DeliveryAudit(events, truth=truth, resolve=functools.partial(resolve_claim, client), grown=grown)
    for arrival in read_topic(bootstrap, topics.output):
        if arrival.source not in left_out:
            audit.add_output(arrival)
    for arrival in itertools.chain.from_iterable(read_topic(bootstrap, topic) for topic in topics.errors):
        if arrival.source not in left_out and not (jobs_beside and _emitter(arrival) in jobs_beside):
            audit.add_error(arrival)
    for arrival in read_topic(bootstrap, topics.lapsed) if topics.lapsed is not None else ():
        if arrival.source not in left_out:
            audit.add_lapsed(arrival)
    return audit


def _emitter(error_event: Arrival) -> str | None:
    """The job that wrote an error event; None if it does not say."""
    try:
        emitter = orjson.loads(error_event.value)["emitter_id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return emitter if isinstance(emitter, str) else None


def pages_matched(rules: Sequence[Rule], mock: MockApi, counts: JournalTotals) -> set[Page] | None:
    """The pages that a page-selecting rule matched; None if the journal no longer has all its requests."""
    pages: set[Page] = set()
    for rule in rules:
        when = rule.when
        if when.page is None and when.revision is None and when.entity is None and when.share is None:
            continue
        entries = mock.entries(rule.name)
        if len(entries) < counts.rules[rule.name].requests:
            return None
        pages.update(
            (entry.wiki, entry.revision // REVISIONS_PER_PAGE)
            for entry in entries
            if entry.wiki is not None and entry.revision is not None
        )
    return pages
