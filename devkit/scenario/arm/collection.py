"""What is looked up when an arm has ended: the delivery audit, latencies, and which pages a fault matched."""

import functools
from collections.abc import Collection as Several
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devkit.observe.audit.arrivals import Position, read_topic
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.claims import resolve_claim
from devkit.observe.audit.model import Audit
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange
from devkit.observe.deferrals import Standing
from devkit.observe.latency import Latencies, Page, latencies
from devkit.programs.topics import ProgramTopics
from devkit.stack.parts.mock_api import JournalCounts, MockApi
from devkit.traffic.life import REVISIONS_PER_PAGE
from mockapi.rules.model import Rule

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_TRUTHS_KEPT = 8


@dataclass(frozen=True)
class Ended:
    """How an arm ended: the offsets committed, what the deferral topic says, the batch that failed, and the time."""

    committed: Mapping[int, int]
    deferrals: Standing
    failed: OffsetRange | None
    ended_ms: int


@dataclass(frozen=True)
class Collection:
    """What became of the arm's events. `past_failed_batch` is None where no batch failed."""

    audit: Audit
    past_failed_batch: int | None
    latencies: Latencies


def collection(
    events: Sequence[SourceEvent],
    ended: Ended,
    *,
    bootstrap: str,
    topics: ProgramTopics,
    mock: MockApi,
    client: "S3Client",
    pages_met: set[Page] | None,
    left_out: Several[Position] = (),
) -> Collection:
    """Read the topics and hold what left against what had to; what came of `left_out` is not looked at.

    Raises StackError.
    """
    audit = DeliveryAudit(
        events,
        stream=topics.output,
        truth=functools.lru_cache(maxsize=_TRUTHS_KEPT)(mock.truth),
        resolve=functools.partial(resolve_claim, client),
    )
    for arrival in read_topic(bootstrap, topics.output):
        if arrival.source not in left_out:
            audit.add_output(arrival)
    for arrival in read_topic(bootstrap, topics.error):
        if arrival.source not in left_out:
            audit.add_error(arrival)
    published_ms: dict[Position, int] = {
        (record.topic, record.partition, record.offset): record.timestamp_ms
        for record in read_topic(bootstrap, topics.source)
    }
    return Collection(
        audit=audit.finish(ended.committed, ended.deferrals),
        past_failed_batch=audit.past(ended.failed.end) if ended.failed else None,
        latencies=latencies(
            events,
            published_ms=published_ms,
            left_ms=audit.left_ms(),
            ended_ms=ended.ended_ms,
            pages_met=pages_met,
        ),
    )


def pages_met(rules: Sequence[Rule], mock: MockApi, counts: JournalCounts) -> set[Page] | None:
    """The pages that met a rule which picks pages; None when the journal has forgotten some of those requests."""
    pages: set[Page] = set()
    for rule in rules:
        if rule.when.page is None and rule.when.revision is None and rule.when.share is None:
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
