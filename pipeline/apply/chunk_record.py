"""A record of the mutation topic as a chunk; one whose data went to the object store is read from there first."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.consumer.claims import Suppressed
from pipeline.errors import UnreadableSourceError
from pipeline.rdf.mutation import MutationChunk, read_chunk
from pipeline.records.claim_check import Claim
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Headers

Resolve = Callable[[Claim, str], bytes | Suppressed]
"""The payload of a claim check of a record at a place, verified. Raises PipelineError."""
_HINT = (
    "nothing is skipped: look at what wrote the record, then load the store again and start behind it with --new, or "
    "have the topic written again"
)


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A record of the topic; a null header counts as empty. `timestamp_ms` is negative where it has none."""

    offset: int
    value: bytes | None
    headers: Headers
    timestamp_ms: int = -1


def parse_record(record: ChunkRecord, place: str, resolve: Resolve) -> MutationChunk:
    """The chunk in the record at `place`. Raises UnreadableSourceError, and what `resolve` raises."""
    try:
        claim = Claim.of_headers(dict(record.headers))
    except (KeyError, ValueError) as error:
        raise UnreadableSourceError(f"record {place} has no whole claim check: {error!r}", hint=_HINT) from error
    value = record.value
    if claim is not None:
        payload = resolve(claim, place)
        if isinstance(payload, Suppressed):
            raise UnreadableSourceError(
                f"the chunk of record {place} was removed as suppressed by {payload.by}", hint=_HINT
            )
        value = payload
    try:
        return read_chunk(value, record.headers, offset=record.offset)
    except InvalidEventError as error:
        raise UnreadableSourceError(f"record {place}: {error}", hint=_HINT) from error
