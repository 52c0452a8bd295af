"""Every metric there is: its name, what it counts and by which labels. Nothing else is ever reported.

A metric of the workers has its lane as first label, `main` or `slow`; the driver adds it. Counters get `_total` behind
their name, as Prometheus demands, and begin at 0 with the process.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "gauge", "histogram"]

_ENDINGS = {"counter": ("_total", "_created"), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count", "_created")}
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """`of_worker`: measured in the Python workers. A histogram's `bounds` are its buckets' upper ends, in seconds."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    of_worker: bool = False

    @property
    def bounds(self) -> tuple[float, ...]:
        """Upper bounds of a histogram's buckets in seconds; none for other kinds."""
        return _SECONDS if self.kind == "histogram" else ()

    def series(self, name: str) -> tuple[str, ...]:
        """The names of its series when it is reported as `name`."""
        return tuple(name + ending for ending in _ENDINGS[self.kind])

    @property
    def sample_name(self) -> str:
        """The name that a query asks for; of a histogram there are `_bucket`, `_sum` and `_count` behind it."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


def _worker(name: str, kind: Kind, text: str, *labels: str) -> Metric:
    return Metric(f"enrichment_{name}", kind, text, ("lane", *labels), of_worker=True)


def _driver(name: str, kind: Kind, text: str, *labels: str) -> Metric:
    return Metric(f"enrichment_{name}", kind, text, labels)


EVENTS = _worker(
    "events", "counter", "Events by what became of them: output, error, deferred, filtered, lapsed.", "outcome"
)
ERRORS = _worker("errors", "counter", "Error events by their class.", "error_type")
CLAIM_CHECKS = _worker("claim_checks", "counter", "Outputs whose payload went to the object store.")
CLAIM_CHECKS_REMOVED = _worker("claim_checks_removed", "counter", "Claim checks removed as an event suppressed them.")
CLAIM_REMOVALS_FAILED = _worker(
    "claim_removals_failed", "counter", "Events whose suppressed claim checks could not be removed."
)
RECORD_SECONDS = _worker("record_seconds", "histogram", "From the start of an event to its outcome, of those tried.")
FETCHES = _worker(
    "fetches", "counter", "Requests that ended: ok, failed (may be tried again), refused, abandoned.", "outcome"
)
RESPONSES = _worker("responses", "counter", "Responses by HTTP status.", "status")
RETRIES = _worker("fetch_retries", "counter", "Requests that are not the first of their fetch.")
FETCH_SECONDS = _worker("fetch_seconds", "histogram", "A request, to the last byte of its body; its rate is in flight.")
PARENTS = _worker(
    "parent_cache", "counter", "Parent revisions: hit, as they were published last; miss, asked for.", "result"
)
PARENT_BYTES = _worker("parent_cache_hit_bytes", "counter", "Bytes of HTML of the hits, which were not fetched.")
INVALID_TERMS = _worker(
    "invalid_terms",
    "counter",
    "Triples with a term that no store takes: encoded, with an IRI in percent-encoding; left_out.",
    "outcome",
)
IN_FLIGHT_PEAK = _worker(
    "fetches_in_flight_peak", "gauge", "Most requests at once in each worker of the last batch or round, added up."
)
BUFFER_PEAK = _worker(
    "result_buffer_peak_bytes", "gauge", "Most bytes of finished records that waited for the sink, likewise."
)
MEMORY_HELD_PEAK = _worker(
    "in_flight_memory_peak_bytes", "gauge", "Most bytes of fetched content in the workers' memory, likewise."
)
SPOOL_PEAK = _worker(
    "in_flight_spool_peak_bytes", "gauge", "Most bytes of fetched content in the workers' spool files, likewise."
)
WORKER_MEMORY = _worker(
    "worker_resident_bytes", "gauge", "Resident memory of the Python workers of the last batch or round, together."
)

BATCH_SECONDS = _driver("batch_seconds", "histogram", "A micro-batch, from its plan to the last acknowledgement.")
COMMIT_SECONDS = _driver("commit_seconds", "histogram", "Spark's two log writes of a micro-batch, offsets and commit.")
COMMITS_SLOW = _driver(
    "commits_slow", "counter", "Writes to the checkpoint that took longer than commit.slow_after, those under way too."
)
BATCH_ROWS = _driver("batch_rows", "counter", "Source messages in committed micro-batches.")
LAST_COMMIT = _driver(
    "last_commit_timestamp_seconds", "gauge", "When Spark last told of a commit; at first, the start."
)
STALL_TIMEOUT = _driver("stall_timeout_seconds", "gauge", "The configured stall_timeout.")
STARTED = _driver("started_timestamp_seconds", "gauge", "When the driver began; its age is the uptime.")
DEFERRED = _driver("deferred_entries", "gauge", "Events in the ledger.")
DEFERRED_BYTES = _driver("deferred_bytes", "gauge", "Bytes that they count there.")
DEFERRED_PAGES = _driver("deferred_pages", "gauge", "Pages that they belong to.")
MAX_DEFERRED = _driver("deferral_max_entries", "gauge", "Number of deferred events above which the main lane waits.")
MAX_DEFERRED_BYTES = _driver("deferral_max_bytes", "gauge", "Bytes of deferred events above which the main lane waits.")
BREAKER_OPEN = _driver(
    "breaker_open",
    "gauge",
    "Open breakers: of the endpoint, of each wiki by name (the first 20), and of all others together.",
    "grain",
    "wiki",
)
DEFERRED_UNHEALTHY = _driver(
    "deferred_unhealthy_entries", "gauge", "Events in the ledger of wikis whose breaker is open."
)
LAG_EVENTS = _driver(
    "lag_events", "gauge", "Events of a source partition that no committed batch read.", "topic", "partition"
)
LAG_SECONDS = _driver("lag_seconds", "gauge", "Age of the oldest of them, by its record's time.", "topic", "partition")
LAG_SEEN = _driver("lag_timestamp_seconds", "gauge", "When the lag was last found out; it is as old as that.")
STATE_ROWS = _driver("state_rows", "gauge", "Rows in the job's state, by the operator that keeps it.", "operator")
STATE_BYTES = _driver("state_bytes", "gauge", "Bytes of memory that its state stores take.", "operator")
STATE_COMMIT_SECONDS = _driver(
    "state_commit_seconds", "histogram", "A micro-batch's writes of its state, of all partitions together.", "operator"
)
DUPLICATES = _driver("duplicates_dropped", "counter", "Source messages dropped as repeats.", "operator")
LATE_DROPPED = _driver(
    "late_dropped", "counter", "Source messages that Spark dropped behind its watermark: they are lost.", "operator"
)
WATERMARK = _driver("watermark_timestamp_seconds", "gauge", "Event time behind which a message is late.")
EVENT_TIME = _driver(
    "event_time_timestamp_seconds",
    "gauge",
    "Latest event time that was read of a source partition, with source.read: aligned.",
    "topic",
    "partition",
)
EVENT_TIME_COMMON = _driver(
    "event_time_common_timestamp_seconds", "gauge", "The latest of them: what is earlier than that comes late."
)
EVENT_TIME_WAITING = _driver(
    "event_time_waiting_timestamp_seconds",
    "gauge",
    "Event time of the first event of a source partition that waits for the others.",
    "topic",
    "partition",
)
EVENT_TIME_HELD = _driver(
    "event_time_held_seconds",
    "gauge",
    "For how long a source partition that was read to its end has kept the others waiting; 0 when it does not.",
    "topic",
    "partition",
)
EVENT_TIME_IDLE = _driver(
    "event_time_idle", "gauge", "1 for a source partition that is taken as idle, else 0.", "topic", "partition"
)
MEMORY = _driver("resident_bytes", "gauge", "Resident memory: the driver's Python process, and its JVM.", "process")
JVM_POOL_USED = _driver("jvm_memory_pool_used_bytes", "gauge", "Memory of the driver's JVM in use.", "area", "pool")
JVM_POOL_MAX = _driver("jvm_memory_pool_max_bytes", "gauge", "The most that a pool may take.", "area", "pool")
JVM_POOL_LIVE = _driver(
    "jvm_memory_pool_collection_used_bytes", "gauge", "What the last collection of the pool left.", "area", "pool"
)
JVM_CLASSES = _driver("jvm_classes_loaded", "gauge", "Classes that the driver's JVM has loaded.")
JVM_THREADS = _driver("jvm_threads", "gauge", "Live threads of the driver's JVM.")
JVM_GC = _driver(
    "jvm_gc_seconds", "counter", "Time of garbage collections; its rate is the share of time.", "collector"
)
CACHED_RDDS = _driver("cached_rdds", "gauge", "RDDs that Spark was asked to cache and not to release.")
CACHED_BYTES = _driver("cached_bytes", "gauge", "What Spark's block managers hold, in memory and on disk.", "place")
STORAGE_MAX = _driver("storage_memory_max_bytes", "gauge", "The most that they may hold in memory.")
SLOTS = _driver("slots", "gauge", "Tasks that the executors which are there can run at the same time.")
SLOTS_CONFIGURED = _driver("slots_configured", "gauge", "The same with all executors that Spark's settings ask for.")

OF_JVM = (
    JVM_POOL_USED,
    JVM_POOL_MAX,
    JVM_POOL_LIVE,
    JVM_CLASSES,
    JVM_THREADS,
    JVM_GC,
    CACHED_RDDS,
    CACHED_BYTES,
    STORAGE_MAX,
    SLOTS,
    SLOTS_CONFIGURED,
)
"""What is asked of the driver's JVM, at each look."""

METRICS = (
    EVENTS,
    ERRORS,
    CLAIM_CHECKS,
    CLAIM_CHECKS_REMOVED,
    CLAIM_REMOVALS_FAILED,
    RECORD_SECONDS,
    FETCHES,
    RESPONSES,
    RETRIES,
    FETCH_SECONDS,
    PARENTS,
    PARENT_BYTES,
    INVALID_TERMS,
    IN_FLIGHT_PEAK,
    BUFFER_PEAK,
    MEMORY_HELD_PEAK,
    SPOOL_PEAK,
    WORKER_MEMORY,
    BATCH_SECONDS,
    COMMIT_SECONDS,
    COMMITS_SLOW,
    BATCH_ROWS,
    LAST_COMMIT,
    STALL_TIMEOUT,
    STARTED,
    DEFERRED,
    DEFERRED_BYTES,
    DEFERRED_PAGES,
    MAX_DEFERRED,
    MAX_DEFERRED_BYTES,
    BREAKER_OPEN,
    DEFERRED_UNHEALTHY,
    LAG_EVENTS,
    LAG_SECONDS,
    LAG_SEEN,
    STATE_ROWS,
    STATE_BYTES,
    STATE_COMMIT_SECONDS,
    DUPLICATES,
    LATE_DROPPED,
    WATERMARK,
    EVENT_TIME,
    EVENT_TIME_COMMON,
    EVENT_TIME_WAITING,
    EVENT_TIME_HELD,
    EVENT_TIME_IDLE,
    MEMORY,
    *OF_JVM,
)
