"""All kinds of expectations by name."""

from devkit.expectations.abandoned import ABANDONED
from devkit.expectations.amplification import AMPLIFICATION
from devkit.expectations.audit import AUDIT
from devkit.expectations.base import ExpectationKind
from devkit.expectations.batch_budget import BATCH_BUDGET
from devkit.expectations.batch_time import BATCH_TIME
from devkit.expectations.checkpoint_files import CHECKPOINT_FILES
from devkit.expectations.checkpoint_size import CHECKPOINT_SIZE
from devkit.expectations.claim_checks import CLAIM_CHECKS
from devkit.expectations.commit_time import COMMIT_TIME
from devkit.expectations.compare import Compare
from devkit.expectations.connections import CONNECTIONS
from devkit.expectations.container import CONTAINER_KILLS, PEAK_MEMORY
from devkit.expectations.deferred import DEFERRED
from devkit.expectations.drained import DRAINED
from devkit.expectations.error_events import ERROR_EVENTS
from devkit.expectations.event_time_skew import EVENT_TIME_SKEW
from devkit.expectations.exception import EXCEPTION
from devkit.expectations.failure import FAILURE
from devkit.expectations.flat_commit import FLAT_COMMIT, IDLE_CPU
from devkit.expectations.gave_up import GAVE_UP
from devkit.expectations.lag import LAG
from devkit.expectations.late_dropped import LATE_DROPPED
from devkit.expectations.latency import LATENCY
from devkit.expectations.log import LOG
from devkit.expectations.memory import MEMORY
from devkit.expectations.metric import METRIC_EXISTS, METRIC_MISSING
from devkit.expectations.metric_value import METRIC
from devkit.expectations.never_ran import NEVER_RAN
from devkit.expectations.other_settings import OTHER_SETTINGS
from devkit.expectations.over_time import BATCH_GROWTH, RESTART_PROGRESS
from devkit.expectations.partitions_read import PARTITIONS_READ
from devkit.expectations.past_failed_batch import PAST_FAILED_BATCH
from devkit.expectations.peak_queue import PEAK_QUEUE
from devkit.expectations.rate import RATE
from devkit.expectations.refused import REFUSED
from devkit.expectations.replays import REPLAYED_OFFSETS, REPLAYS
from devkit.expectations.requests import REQUESTS
from devkit.expectations.restarts import RESTARTS
from devkit.expectations.store_matches import DIFFERING_ENTITIES, DIVERGENCE, STORE_MATCHES
from devkit.expectations.success_rate import SUCCESS_RATE
from devkit.expectations.watermark_step import WATERMARK_STEP
from devkit.expectations.watermark_stood import WATERMARK_STOOD
from located_config.registry import Registry

_ALL: tuple[ExpectationKind, ...] = (
    RESTARTS,
    RESTART_PROGRESS,
    GAVE_UP,
    REPLAYS,
    REPLAYED_OFFSETS,
    EXCEPTION,
    FAILURE,
    REFUSED,
    NEVER_RAN,
    OTHER_SETTINGS,
    LOG,
    PAST_FAILED_BATCH,
    FLAT_COMMIT,
    IDLE_CPU,
    BATCH_TIME,
    BATCH_GROWTH,
    COMMIT_TIME,
    CHECKPOINT_SIZE,
    CHECKPOINT_FILES,
    AMPLIFICATION,
    ABANDONED,
    SUCCESS_RATE,
    CONNECTIONS,
    REQUESTS,
    PEAK_QUEUE,
    AUDIT,
    ERROR_EVENTS,
    DRAINED,
    DEFERRED,
    BATCH_BUDGET,
    LATENCY,
    CLAIM_CHECKS,
    LAG,
    EVENT_TIME_SKEW,
    LATE_DROPPED,
    WATERMARK_STEP,
    WATERMARK_STOOD,
    PARTITIONS_READ,
    RATE,
    METRIC_EXISTS,
    METRIC_MISSING,
    METRIC,
    MEMORY,
    STORE_MATCHES,
    DIFFERING_ENTITIES,
    DIVERGENCE,
    CONTAINER_KILLS,
    PEAK_MEMORY,
    Compare(kinds=lambda: EXPECTATIONS),
)
EXPECTATIONS: Registry[ExpectationKind] = Registry("expectation", {kind.name: kind for kind in _ALL})
