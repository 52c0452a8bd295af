"""Every metric of `python -m pipeline apply`. Nothing else is ever reported by it."""

from pipeline.metrics.catalogue import LAG_EVENTS, LAG_SECONDS, LAG_SEEN, Kind, Metric


def _metric(name: str, kind: Kind, text: str, *labels: str) -> Metric:
    return Metric(f"enrichment_apply_{name}", kind, text, labels)


POLL_SECONDS = _metric("poll_seconds", "histogram", "A wait for records of the topic.")
STORE_SECONDS = _metric(
    "store_seconds", "histogram", "A request to the store, waits while it was down included.", "kind"
)
MUTATIONS = _metric(
    "mutations", "counter", "Mutations in requests that the store has executed, by operation.", "operation"
)
TRIPLES = _metric("triples", "counter", "Triples that they delete and insert by name.", "change")
CLEARED = _metric("entities_cleared", "counter", "Entities that were deleted by query.")
REPEATS = _metric("repeats_dropped", "counter", "Mutations dropped as they repeat an earlier one of their entity.")
ABSENT = _metric(
    "absent_entities", "counter", "Diffs not applied as the store does not have their entity: it was deleted, or lost."
)
CHUNKS_DROPPED = _metric(
    "chunks_dropped",
    "counter",
    "Chunks dropped: of a prefix that was not continued, or orphans that came without their prefix.",
    "reason",
)
INVALID_TERMS = _metric(
    "invalid_terms",
    "counter",
    "Triples of records with a term that no store takes: encoded, with an IRI in percent-encoding; left_out.",
    "outcome",
)
UNLINKED = _metric("unlinked_triples", "counter", "Shared triples that were not linked any more and stay.")
DELETES_IGNORED = _metric("ignored_deletes", "counter", "Deletes that were not applied, under apply.deletes: ignore.")
PROBED = _metric("probed_triples", "counter", "Triples that the store was asked about, under apply.count: probe.")
DIVERGING = _metric(
    "diverging_triples",
    "counter",
    "Of these: missing, which it should have had, and unexpected, which it should not have had.",
    "kind",
)
NEXT_OFFSET = _metric("next_offset", "gauge", "The offset from which a restart would read.")
EVENT_TIME = _metric(
    "event_timestamp_seconds", "gauge", "Event time of the last mutation applied; its age is the store's latency."
)
STORE_DOWN = _metric("store_down", "gauge", "1 while the store does not answer, else 0.")
STARTED = _metric("started_timestamp_seconds", "gauge", "When the process began to read.")

APPLY_METRICS = (
    POLL_SECONDS,
    STORE_SECONDS,
    MUTATIONS,
    TRIPLES,
    CLEARED,
    REPEATS,
    ABSENT,
    CHUNKS_DROPPED,
    INVALID_TERMS,
    UNLINKED,
    DELETES_IGNORED,
    PROBED,
    DIVERGING,
    NEXT_OFFSET,
    EVENT_TIME,
    STORE_DOWN,
    STARTED,
    LAG_EVENTS,
    LAG_SECONDS,
    LAG_SEEN,
)
