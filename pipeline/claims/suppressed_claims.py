"""Which claim checks the output topic says are to be gone: for what a removal could not reach, or what came before.

    record with a claim check        named by its page, with the revisions its payload has something of
    record that suppresses           what was named of that before it is to go ─▶ mark, delete
    named again behind that          stays: an undelete's, or a repeat whose suppression is still to come
    the same record once more        of a batch that was repeated: what later source events had named by then stays

What a record suppresses stands in its event, so records count too that were written before anything was removed, and
keys of older versions, which say nothing of a page. Records are read by their times, as a page may have changed its
partition.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from pipeline.consumer.delivery import Delivery, UnreadableOutputError, read
from pipeline.consumer.record_merge import Stretch, oldest_first
from pipeline.ops.source import SourceTopic
from pipeline.records.claim_key import PageRevision, names_hash
from pipeline.records.record import Position
from pipeline.records.suppression import Suppression, revision_of, suppression_of

_Page = tuple[str, int]


@dataclass(frozen=True, slots=True)
class ToRemove:
    """A claim check that is to be gone, and by which source event."""

    key: str
    suppression: Suppression
    by: Position


@dataclass(frozen=True, slots=True)
class _Naming:
    """A record that names a claim check: its number, and its latest source event."""

    about: PageRevision
    source: Position
    record: int


@dataclass
class SuppressedClaims:
    """Takes records in their order. About 700 bytes each for records that name a claim check or suppress, none for
    others.
    """

    bucket: str
    records: int = 0
    _named: dict[_Page, dict[str, _Naming]] = field(default_factory=dict)
    _suppressing: dict[tuple[str, Position], int] = field(default_factory=dict)
    _gone: dict[str, ToRemove] = field(default_factory=dict)

    def take(self, delivery: Delivery) -> None:
        """A record of the output topic. Raises UnreadableOutputError for one that is of no page change."""
        self.records += 1
        event: Mapping[str, Any] = orjson.loads(delivery.value)
        try:
            revision, suppression = revision_of(event), suppression_of(event)
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableOutputError(
                f"record {delivery.place} is of no page change: {error!r}",
                hint="only jobs that read page changes have something to suppress",
            ) from error
        page = (revision.wiki_id, revision.page_id)
        if suppression is not None:
            # Of a topic that was made again offsets say nothing: only what is seen twice is a repeat.
            first_record = self._suppressing.setdefault((delivery.id, delivery.source), self.records)
            for key, naming in self._named.get(page, {}).items():
                is_later = naming.record > first_record and naming.source.is_behind(delivery.source)
                if suppression.covers(naming.about) and not is_later:
                    self._gone.setdefault(key, ToRemove(key, suppression, delivery.source))
        # What else a record may name is no payload of a job's, and not to be removed.
        claim = delivery.claim
        if claim is not None and claim.bucket == self.bucket and names_hash(claim.key, claim.sha256):
            of_page = self._named.setdefault(page, {})
            previous = of_page.get(claim.key)
            if previous is None or not previous.source.is_behind(delivery.source):
                of_page[claim.key] = _Naming(revision, delivery.source, self.records)
            self._gone.pop(claim.key, None)

    def to_remove(self) -> tuple[ToRemove, ...]:
        """The claim checks to remove, in the order in which they were suppressed."""
        return tuple(self._gone.values())


def outputs(topic: SourceTopic, *, say: Callable[[str], None]) -> Iterator[Delivery]:
    """All records of the output topic to its present end, the oldest first. Raises PipelineError."""
    bounds = topic.bounds()
    say(f"reading {topic.topic}: {sum(bounds.end.values()) - sum(bounds.first.values())} offsets")
    for _, record in oldest_first([Stretch(topic, bounds.first, bounds.end)]):
        yield read(f"{topic.topic}/{record.partition}/{record.offset}", record.value, record.own_headers)


def suppressed_claims(deliveries: Iterable[Delivery], bucket: str) -> SuppressedClaims:
    """The suppressed claim checks of all records together. Raises UnreadableOutputError."""
    claims = SuppressedClaims(bucket)
    for delivery in deliveries:
        claims.take(delivery)
    return claims
