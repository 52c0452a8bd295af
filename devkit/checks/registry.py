"""All checks by name."""

from devkit.checks.abandoned import ABANDONED
from devkit.checks.amplification import AMPLIFICATION
from devkit.checks.audit import AUDIT
from devkit.checks.base import Check
from devkit.checks.batch_budget import BATCH_BUDGET
from devkit.checks.claim_checks import CLAIM_CHECKS
from devkit.checks.deferred import DEFERRED
from devkit.checks.drained import DRAINED
from devkit.checks.exception import EXCEPTION
from devkit.checks.failure import FAILURE
from devkit.checks.flat_commit import FLAT_COMMIT, IDLE_CPU
from devkit.checks.latency import LATENCY
from devkit.checks.metric import METRIC_EXISTS, METRIC_MISSING
from devkit.checks.past_failed_batch import PAST_FAILED_BATCH
from devkit.checks.peak_queue import PEAK_QUEUE
from devkit.checks.refused import REFUSED
from devkit.checks.replays import REPLAYED_OFFSETS, REPLAYS
from devkit.checks.restarts import RESTARTS
from devkit.checks.success_rate import SUCCESS_RATE

_ALL: tuple[Check, ...] = (
    RESTARTS,
    REPLAYS,
    REPLAYED_OFFSETS,
    EXCEPTION,
    FAILURE,
    REFUSED,
    PAST_FAILED_BATCH,
    FLAT_COMMIT,
    IDLE_CPU,
    AMPLIFICATION,
    ABANDONED,
    SUCCESS_RATE,
    PEAK_QUEUE,
    AUDIT,
    DRAINED,
    DEFERRED,
    BATCH_BUDGET,
    LATENCY,
    CLAIM_CHECKS,
    METRIC_EXISTS,
    METRIC_MISSING,
)
CHECKS: dict[str, Check] = {check.name: check for check in _ALL}
